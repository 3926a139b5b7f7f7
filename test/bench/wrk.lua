-- wrk.lua: the requests of traffic.c, for wrk. Its environment says which.
local ids = {}
for id in io.lines(os.getenv("BENCH_IDS")) do ids[#ids + 1] = id end

local method = os.getenv("BENCH_METHOD")
local headers = { Authorization = "Bearer " .. os.getenv("BENCH_TOKEN") }
local prose = string.rep("all tests of this module ran and the review found nothing new. ", 4)
local status = { "pending", "review", "failed" }
local count = 0

if method == "PATCH" then headers["Content-Type"] = "application/json" end

local function body()
    count = count + 1
    return '{"operations":[{"op":"replace","path":"/status","value":"' .. status[math.random(3)] ..
        '"},{"op":"add","path":"/summary","value":"' .. count .. " " ..
        string.sub(prose, 1, math.random(20, 200)) .. '"}]}'
end

function request()
    return wrk.format(method, "/workflow-states/" .. ids[math.random(#ids)], headers,
        method == "PATCH" and body() or nil)
end
