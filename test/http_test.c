/* http_test.c: one request, one response; and that no cut between bytes matters. */
#include "http_fixture.h"

#include "base/digest.h"
#include "wire/http/page.h"

// clang-format off
static const struct {
    const char *asked, *answered;
} cases[] = {
    /* routes that need no token */
    { "GET /health HTTP/1.1|" H "|",
      "HTTP/1.1 200 OK|" DATE JSON_TYPE "Content-Length: 33||{'status':'ok','version':'1.2.3'}" },
    { "HEAD /health HTTP/1.1|" H "|",
      "HTTP/1.1 200 OK|" DATE JSON_TYPE "Content-Length: 33||" },
    { "GET /ready HTTP/1.1|" H "|", "HTTP/1.1 200 OK|*{'status':'ready'}" },
    { "POST /health HTTP/1.1|" H "Content-Length: 0||", "HTTP/1.1 405 *|Allow: GET, HEAD, OPTIONS|*" },
    { "OPTIONS /health HTTP/1.1|" H "|", "HTTP/1.1 204 No Content|" DATE "Allow: GET, HEAD, OPTIONS||" },
    { "GET /health HTTP/1.1|" H "Content-Length: 2||{}", "HTTP/1.1 400 *expected no body*<closed>" },

    /* Host */
    { "GET /health HTTP/1.1|Host: 127.1.2.3||", "HTTP/1.1 200 *" },
    { "GET /health HTTP/1.1|Host: [::1]:80||", "HTTP/1.1 200 *" },
    { "GET /health HTTP/1.1|Host: LocalHost||", "HTTP/1.1 200 *" },
    { "GET /health HTTP/1.1|Host: baton.example:1||", "HTTP/1.1 200 *" },
    { "GET /health HTTP/1.1|Host: evil.example||",
      "HTTP/1.1 421 Misdirected Request|" DATE PROBLEM "Content-Length: *||{'type':'urn:baton:problem:misdirected',"
      "'title':'Misdirected','status':421,'detail':'*found \\'evil.example\\''}" },
    { "GET /health HTTP/1.1|Host: 127.0.0.1.evil.example||", "HTTP/1.1 421 *" },
    { "GET /health HTTP/1.1|Host: 127.evil||", "HTTP/1.1 421 *" },
    { "GET /health HTTP/1.1|Host: 127.0.0.256||", "HTTP/1.1 421 *" },
    { "GET /health HTTP/1.1|Host: localhost:x||", "HTTP/1.1 421 *" },
    { "GET /health HTTP/1.0||", "HTTP/1.1 421 *<closed>" },

    /* Origin */
    { "GET /health HTTP/1.1|" H "Origin: http://localhost:8765||", "HTTP/1.1 200 *" },
    { "GET /health HTTP/1.1|" H "Origin: http://localhost:8766||", "HTTP/1.1 403 *" },
    { "GET /health HTTP/1.1|" H "Origin: null||", "HTTP/1.1 403 *" },
    { "GET /health HTTP/1.1|" H "Origin: http://evil||", "HTTP/1.1 403 *pages of other sites*" },
    { "GET /health HTTP/1.1|" H "Origin: http://localhost:8765|Origin: http://evil||", "HTTP/1.1 403 *" },

    /* tokens */
    { "GET /things HTTP/1.1|" H "|",
      "HTTP/1.1 401 Unauthorized|" DATE "WWW-Authenticate: Bearer|" PROBLEM "*found none: *operator.token*" },
    { "GET /things HTTP/1.1|" H "Authorization: Basic b3A6||", "HTTP/1.1 401 *found something else*" },
    { "GET /things HTTP/1.1|" H "Authorization: Bearer bad||", "HTTP/1.1 401 *this token is not known*" },
    { "GET /things HTTP/1.1|" H "Authorization: bearer   op||", "HTTP/1.1 200 *" },
    { "GET /things HTTP/1.1|" H "Authorization: Bearer brief||", "HTTP/1.1 401 *" },
    { "GET /things HTTP/1.1|" H "Authorization: Bearer op|Authorization: Bearer bad||",
      "HTTP/1.1 400 *expected one header authorization*" },
    { "GET /health HTTP/1.1|" H "Authorization: Bearer op|authorization: Bearer op||", "HTTP/1.1 400 *" },
    { "GET /nothing HTTP/1.1|" H "|", "HTTP/1.1 401 *" },
    { "GET /metrics HTTP/1.1|" H "|", "HTTP/1.1 401 *" },
    { "GET /ws HTTP/1.1|" H "Authorization: Bearer bad||", "HTTP/1.1 401 *" },
    { "GET /events HTTP/1.1|" H "Accept: text/event-stream||", "HTTP/1.1 401 *" },

    /* which operation */
    { "GET /nothing HTTP/1.1|" A "|",
      "HTTP/1.1 404 Not Found|*'type':'urn:baton:problem:not-found'*nothing at /nothing; GET /openapi.json*" },
    { "GET /things/ HTTP/1.1|" A "|", "HTTP/1.1 404 *" },
    { "DELETE /things HTTP/1.1|" A "|",
      "HTTP/1.1 405 Method Not Allowed|" DATE "Allow: POST, GET, HEAD, OPTIONS|" PROBLEM "*'type':'about:blank',"
      "'title':'Method Not Allowed','status':405,*" },
    { "BREW /things HTTP/1.1|" A "|", "HTTP/1.1 501 *no operation has the method BREW*" },
    { "OPTIONS /things/x HTTP/1.1|" A "|",
      "HTTP/1.1 204 No Content|" DATE "Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS|"
      "Accept-Patch: application/json, application/json-patch+json, application/merge-patch+json||" },
    { "OPTIONS /nothing HTTP/1.1|" A "|", "HTTP/1.1 404 *" },
    { "OPTIONS * HTTP/1.1|" A "|", "HTTP/1.1 204 *Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS|*" },

    /* input: the path and the query */
    { "GET /things HTTP/1.1|" A "|", "HTTP/1.1 200 OK|" DATE JSON_TYPE "Content-Length: 12||{'asked':{}}" },
    { "GET /things?limit=5&deep=true&share=0.5&after=a+b%2B&tag=1&tag=2 HTTP/1.1|" A "|",
      "*{'asked':{'limit':5,'deep':true,'share':0.5,'after':'a b+','tag':[1,2]}}" },
    { "GET /things?limit=five HTTP/1.1|" A "|",
      "HTTP/1.1 400 *expected the parameter \\'limit\\' to be an integer, found \\'five\\'*" },
    { "GET /things?deep=1 HTTP/1.1|" A "|", "HTTP/1.1 400 *to be a boolean*" },
    { "GET /things?tag=x HTTP/1.1|" A "|", "HTTP/1.1 400 *to be an integer*" },
    { "GET /things?limit=1&limit=2 HTTP/1.1|" A "|", "HTTP/1.1 400 *\\'limit\\' in the query*" },
    { "GET /things?colour=red HTTP/1.1|" A "|",
      "HTTP/1.1 400 *thing.list has no parameter \\'colour\\'; it has: after, note, limit, deep, share, tag'*" },
    { "GET /things?after=%zz HTTP/1.1|" A "|", "HTTP/1.1 400 *two hexadecimal digits*" },
    { "GET /things/a%2Fb%20c?part=x HTTP/1.1|" A "|", "HTTP/1.1 200 *{'asked':{'thing_id':'a/b c','part':'x'}}" },
    { "GET /things/%ff HTTP/1.1|" A "|", "HTTP/1.1 400 *" },
    { "GET /things/x?thing_id=y HTTP/1.1|" A "|", "HTTP/1.1 400 *" },
    { "GET /things/x?thing_id=x HTTP/1.1|" A "|", "HTTP/1.1 200 *{'asked':{'thing_id':'x'}}" },

    /* input: the body */
    { "PUT /things/x HTTP/1.1|" A "Content-Type: application/json|Content-Length: 12||{\"data\":[1]}",
      "HTTP/1.1 200 *ETag: '8'|*{'asked':{'data':[1],'thing_id':'x'}}" },
    { "PUT /things/x HTTP/1.1|" A "Content-Type: application/json; charset=utf-8|Transfer-Encoding: chunked||"
      "5|{\"dat|7|a\":[1]}|0||", "HTTP/1.1 200 *{'asked':{'data':[1],'thing_id':'x'}}" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 16||{\"thing_id\":\"y\"}", "HTTP/1.1 400 *in the path*" },
    { "PUT /things/x?expected_version=7 HTTP/1.1|" A "Content-Length: 0||",
      "HTTP/1.1 200 *{'asked':{'thing_id':'x','expected_version':7}}" },
    { "PATCH /things/x HTTP/1.1|" A "Content-Type: application/json-patch+json|Content-Length: 2||[]",
      "HTTP/1.1 200 *{'asked':{'operations':[],'thing_id':'x'}}" },
    { "PATCH /things/x HTTP/1.1|" A "Content-Type: application/merge-patch+json|Content-Length: 4||null",
      "HTTP/1.1 200 *{'asked':{'merge':null,'thing_id':'x'}}" },
    { "PATCH /things/x HTTP/1.1|" A "Content-Type: application/merge-patch+json|Content-Length: 0||",
      "HTTP/1.1 400 *the body: *" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 2||[]", "HTTP/1.1 400 *the body to be an object, found array*" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 1||{", "HTTP/1.1 400 *the body: *" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 13||{\"a\":1,\"a\":2}", "HTTP/1.1 400 *" },
    { "POST /things HTTP/1.1|" A "Content-Length: 10||{\"name\":1}", "HTTP/1.1 422 *" },

    /* a body that is a field, unless it has a member of that name */
    { "POST /things/x/plan HTTP/1.1|" A "Content-Type: application/json|Content-Length: 12||{\"steps\":[]}",
      "HTTP/1.1 200 *{'asked':{'plan':{'steps':[]},'thing_id':'x'}}" },
    { "POST /things/x/plan?expected_version=7 HTTP/1.1|" A "Content-Length: 12||{\"steps\":[]}",
      "HTTP/1.1 200 *{'asked':{'plan':{'steps':[]},'thing_id':'x','expected_version':7}}" },
    { "POST /things/x/plan HTTP/1.1|" A "Content-Type: application/json|Content-Length: 34||"
      "{\"plan\":{\"expected_version\":true}}",
      "HTTP/1.1 200 *{'asked':{'plan':{'expected_version':true},'thing_id':'x'}}" },
    { "POST /things/x/plan HTTP/1.1|" A "Content-Length: 22||{\"expected_version\":7}",
      "HTTP/1.1 200 *{'asked':{'plan':{'expected_version':7},'thing_id':'x'}}" },
    { "POST /things/x/plan HTTP/1.1|" A "Content-Length: 31||{\"expected_version\":7,\"plan\":1}",
      "HTTP/1.1 200 *{'asked':{'expected_version':7,'plan':1,'thing_id':'x'}}" },
    { "POST /things/x/plan HTTP/1.1|" A "Content-Length: 3||[1]", "HTTP/1.1 200 *{'asked':{'plan':[1],'thing_id':'x'}}" },
    { "POST /things/x/plan HTTP/1.1|" A "Content-Length: 0||", "HTTP/1.1 200 *{'asked':{'thing_id':'x'}}" },

    /* refused before the body is read */
    { "PATCH /things/x HTTP/1.1|" A "Content-Type: text/plain|Content-Length: 2||[]",
      "HTTP/1.1 415 Unsupported Media Type|" CLOSE "Accept-Patch: application/json, application/json-patch+json, "
      "application/merge-patch+json|" PROBLEM "*found \\'text/plain\\''}<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Content-Type: application/merge-patch+json|Content-Length: 2||{}",
      "HTTP/1.1 415 Unsupported Media Type|" CLOSE PROBLEM "*<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Content-Encoding: gzip|Content-Length: 2||{}", "HTTP/1.1 415 *gzip*<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 99999999||", "HTTP/1.1 413 *<closed>" },
    { "PUT /nothing HTTP/1.1|" A "Content-Length: 2||{}", "HTTP/1.1 404 *" CLOSE "*<closed>" },
    { "PUT /things/x HTTP/1.1|" H "Authorization: Bearer bad|Content-Length: 2||{}", "HTTP/1.1 401 *<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Expect: 100-continue|Content-Length: 2||{}",
      "HTTP/1.1 100 Continue||HTTP/1.1 200 *" },
    { "PUT /nothing HTTP/1.1|" A "Expect: 100-continue|Content-Length: 2||{}", "HTTP/1.1 404 *<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Expect: tea|Content-Length: 2||{}", "HTTP/1.1 417 *<closed>" },

    /* what two programs could read differently */
    { "GET /things HTTP/1.1|Host: localhost|Host: localhost||",
      "HTTP/1.1 400 Bad Request|" CLOSE PROBLEM "*'type':'urn:baton:problem:invalid'*found two'}<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 2|Transfer-Encoding: chunked||0||", "HTTP/1.1 400 *<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Transfer-Encoding: gzip, chunked||0||", "HTTP/1.1 501 *<closed>" },
    { "PUT /things/x HTTP/1.1|" A "Transfer-Encoding: chunked||zz|", "HTTP/1.1 400 *<closed>" },
    { "GET /things HTTP/2.0||", "HTTP/1.1 505 *<closed>" },
    { "GET /things HTTP/1.1| folded: x||", "HTTP/1.1 400 *<closed>" },

    /* answers */
    { "POST /things HTTP/1.1|" A "Content-Length: 16||{\"name\":\"a b/c\"}",
      "HTTP/1.1 201 Created|" DATE "ETag: '1'|Location: /things/a%20b%2Fc|" JSON_TYPE "*{'thing_id':'a b/c'}" },
    { "DELETE /things/x HTTP/1.1|" A "|", "HTTP/1.1 204 No Content|" DATE "|" },
    { "GET /things?deep=true&after=z&limit=1 HTTP/1.1|" A "|",
      "HTTP/1.1 200 *|Link: </things?deep=true&limit=1&after=a%20b>; rel='next'|*" },
    { "GET /things?limit=1&note=> HTTP/1.1|" A "|", "HTTP/1.1 200 *|Link: </things?limit=1&note=%3E&after=a%20b>;*" },
    { "POST /full HTTP/1.1|" A "Content-Length: 0||",
      "HTTP/1.1 507 *|Retry-After: 1|" PROBLEM "*'detail':'the disk is full','free_bytes':0}" },
    { "HEAD /things/x?part=y HTTP/1.1|" A "|", "HTTP/1.1 200 OK|" DATE "ETag: '7'|" JSON_TYPE "Content-Length: 37||" },
    { "HEAD /things/none HTTP/1.1|" A "|", "HTTP/1.1 404 Not Found|" DATE PROBLEM "Content-Length: *||" },
    { "GET /things HTTP/1.1|" A "Connection: close||", "HTTP/1.1 200 OK|" CLOSE "*<closed>" },
    { "GET /things HTTP/1.0|" A "|", "HTTP/1.1 200 OK|" CLOSE "*<closed>" },
    { "GET /things HTTP/1.0|" A "Connection: keep-alive||", "HTTP/1.1 200 OK|" DATE "Connection: keep-alive|*}" },

    /* versions */
    { "PUT /things/x HTTP/1.1|" A "If-Match: \"7\"|Content-Length: 0||",
      "HTTP/1.1 200 *{'asked':{'thing_id':'x','expected_version':7}}" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: \"6\"|Content-Length: 0||", "HTTP/1.1 412 *at version 7*" },
    { "PUT /things/x?expected_version=6 HTTP/1.1|" A "Content-Length: 0||", "HTTP/1.1 409 *at version 7*" },
    { "PUT /things/x?expected_version=6 HTTP/1.1|" A "If-Match: \"7\"|Content-Length: 0||", "HTTP/1.1 400 *If-Match*" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: *|Content-Length: 0||", "HTTP/1.1 200 *{'asked':{'thing_id':'x'}}" },
    { "PUT /things/none HTTP/1.1|" A "If-Match: *|Content-Length: 0||", "HTTP/1.1 412 *there is no thing none*" },
    { "PUT /things/none HTTP/1.1|" A "If-Match: \"7\"|Content-Length: 0||", "HTTP/1.1 404 *" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: W/\"7\"|Content-Length: 0||", "HTTP/1.1 412 *" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: \"v7\"|Content-Length: 0||", "HTTP/1.1 412 *" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: 7|Content-Length: 0||", "HTTP/1.1 400 *" },
    { "PUT /things/x HTTP/1.1|" A "If-Match: \"6\", \"7\"|Content-Length: 0||", "HTTP/1.1 400 *" },
    { "PUT /things/x HTTP/1.1|" A "If-None-Match: *|Content-Length: 0||", "HTTP/1.1 400 *" },
    { "DELETE /things/x HTTP/1.1|" A "If-Match: \"7\"||", "HTTP/1.1 412 *knows no versions*" },
    { "GET /things/x?part=y HTTP/1.1|" A "If-None-Match: \"7\"||", "HTTP/1.1 304 Not Modified|" DATE "ETag: '7'||" },
    { "GET /things/x?part=y HTTP/1.1|" A "If-None-Match: \"5\", W/\"7\"||", "HTTP/1.1 304 *" },
    { "HEAD /things/x?part=y HTTP/1.1|" A "If-None-Match: *||", "HTTP/1.1 304 *" },
    { "GET /things/x?part=y HTTP/1.1|" A "If-None-Match: \"6\"||", "HTTP/1.1 200 *" },
    { "GET /things HTTP/1.1|" A "If-None-Match: *||", "HTTP/1.1 200 *" },

    /* wishes */
    { "PUT /things/x HTTP/1.1|" A "Prefer: wait=5, return=representation|Content-Length: 0||",
      "HTTP/1.1 200 *|Preference-Applied: return=representation|*{'asked':{'thing_id':'x','representation':true}}" },
    { "PUT /things/x HTTP/1.1|" A "Prefer: return=minimal|Content-Length: 0||",
      "HTTP/1.1 200 *|Preference-Applied: return=minimal|*'representation':false}}" },
    { "DELETE /things/x HTTP/1.1|" A "Prefer: return=representation||", "HTTP/1.1 204 No Content|" DATE "|" },
    { "DELETE /things/x HTTP/1.1|" A "Idempotency-Key: again||", "HTTP/1.1 204 *|Idempotency-Replayed: true||" },
    { "DELETE /things/x HTTP/1.1|" A "Idempotency-Key: \"again\"||", "HTTP/1.1 204 *|Idempotency-Replayed: true||" },
    { "DELETE /things/x HTTP/1.1|" A "Idempotency-Key: \"again||", "HTTP/1.1 400 *" },
    { "DELETE /things/x HTTP/1.1|" A "Idempotency-Key: a|Idempotency-Key: b||", "HTTP/1.1 400 *" },
    { "GET /things HTTP/1.1|" A "Idempotency-Key: again||", "HTTP/1.1 200 OK|" DATE JSON_TYPE "*" },

    /* what the server says of itself */
    { "GET /limits HTTP/1.1|" A "|",
      "HTTP/1.1 200 *{'request_line_bytes':8192,*'body_bytes':4194304,*'state_bytes':1048576,'store':'sqlite'}" },
    { "GET /metrics HTTP/1.1|" A "|",
      "HTTP/1.1 200 *|Content-Type: text/plain; version=0.0.4; charset=utf-8|*baton_build_info{version='1.2.3'} 1|*"
      "|baton_http_requests_total{class='2xx'} *|baton_connections 1|*|more 1|" },
    { "GET /openapi.json HTTP/1.1|" A "|",
      "HTTP/1.1 200 *|Cache-Control: no-cache|ETag: '*'|*{'openapi':*'/things/{thing_id}'*}" },
    { "HEAD /openapi.json HTTP/1.1|" A "|", "HTTP/1.1 200 *|ETag: '*'|Content-Type: application/json|Content-Length: *||" },
    { "GET /openapi.json HTTP/1.1|" A "If-None-Match: *||",
      "HTTP/1.1 304 Not Modified|*|Cache-Control: no-cache|ETag: '*'||" },
    { "GET /openapi.json HTTP/1.1|" A "If-None-Match: \"another\"||", "HTTP/1.1 200 *{'openapi':*}" },
    { "POST /openapi.json HTTP/1.1|" A "Content-Length: 0||", "HTTP/1.1 405 *Allow: GET, HEAD, OPTIONS*" },
    { "GET /ws HTTP/1.1|" H "|", "HTTP/1.1 426 *<closed>" },

    /* what a browser sees: a page for everybody, which has nothing to tell but the version */
    { "GET / HTTP/1.1|" H "Accept: text/html,application/xml;q=0.9,*/*;q=0.8||",
      "HTTP/1.1 200 *|Cache-Control: no-cache|ETag: '*'|Content-Security-Policy: default-src 'none'; script-src 'self'; "
      "style-src 'self'; *|X-Content-Type-Options: nosniff|*|Vary: Accept|Content-Type: text/html; charset=utf-8|*"
      "<html lang='en'>*version is 1.2.3.*baton open*baton status*baton top*baton init*</html>*" },
    { "HEAD / HTTP/1.1|" H "Accept: text/html||", "HTTP/1.1 200 *|Content-Type: text/html; charset=utf-8|Content-Length: *||" },
    { "GET / HTTP/1.1|" H "Accept: text/html|If-None-Match: *||", "HTTP/1.1 304 Not Modified|*||" },
    { "GET / HTTP/1.1|" H "Accept: */*||", "HTTP/1.1 401 *application/problem+json*" },
    { "GET / HTTP/1.1|" H "|", "HTTP/1.1 401 *application/problem+json*" },
    { "GET / HTTP/1.1|" A "|", "HTTP/1.1 404 *nothing at /;*" },
    { "GET / HTTP/1.1|" H "Accept: text/html;q=0, */*||", "HTTP/1.1 401 *" },
    { "POST / HTTP/1.1|" H "Accept: text/html|Content-Length: 0||", "HTTP/1.1 401 *" },
    { "GET / HTTP/1.1|Host: evil.example|Accept: text/html||", "HTTP/1.1 421 *" },
    { "GET / HTTP/1.1|" H "Accept: text/html|Origin: http://evil.example||", "HTTP/1.1 403 *" },

    /* several, in order */
    { "GET /things?limit=2 HTTP/1.1|" A "|DELETE /things/x HTTP/1.1|" A "|GET /health HTTP/1.1|" H "|",
      "HTTP/1.1 200 *{'asked':{'limit':2}}HTTP/1.1 204 *||HTTP/1.1 200 *'status':'ok'*" },
    { "PUT /things/x HTTP/1.1|" A "Content-Length: 2||{}GET /things HTTP/1.1|" A "|",
      "HTTP/1.1 200 *{'thing_id':'x'}}HTTP/1.1 200 *{'asked':{}}" },
    { "GET /things HTTP/1.1|" A "Connection: close||GET /things HTTP/1.1|" A "|",
      "HTTP/1.1 200 *{'asked':{}}<closed>" },
    { "PUT /nothing HTTP/1.1|" A "Content-Length: 40||GET /things HTTP/1.1|" A "|", "HTTP/1.1 404 *'}<closed>" },
};
// clang-format on

enum { CASES = sizeof cases / sizeof *cases };

/* A file of the page as its answer has it: the head, and how many bytes follow. */
static int64_t page_file_heard(struct http_fixture *s, str path, const char *fields,
                               const char *head)
{
    http_fixture_connect(s);
    http_fixture_ask(
        s,
        arena_printf(check_arena(), "GET " STR_FMT " HTTP/1.1|" H "%s|", STR_ARG(path), fields).at);
    str heard = buf_str(&s->heard), before, rest = heard;
    if (!text_fits(heard.at, head))
        check_fail(__FILE__, __LINE__, "asked with %s\n     expected %s\n     found    " STR_FMT,
                   fields, head, STR_ARG(str_slice(heard, 0, 700)));
    int64_t length = 0;
    while (str_cut(rest, '|', &before, &rest))
        if (str_starts(before, STR("Content-Length: ")))
            CHECK(str_to_int(str_slice(before, strlen("Content-Length: "), before.len), &length));
    http_fixture_hang_up(s);
    return length;
}

/* What the page is made of is named by what is in it: kept for good, small where the client can
 * unpack it, and never what it is not. */
TEST(files_of_the_page_are_kept_for_good_and_packed_for_who_can_unpack)
{
    struct http_fixture *s = http_fixture_open(NULL);
    struct arena *a = check_arena();
    str page = http_page.text(s->server, a), path, rest;

    const char *at = strstr(page.at, "page/main-");
    CHECK(at);
    str_cut((str){ at, (size_t)(page.at + page.len - at) }, '"', &path, &rest);
    path = arena_printf(a, "/" STR_FMT, STR_ARG(path));
    CHECK(page_file(path, true) && page_file(path, false) && !page_file(STR("/"), false));
    CHECK(page_file(path, true)->bytes.len < page_file(path, false)->bytes.len);
    CHECK(strcmp(page_file(path, true)->type, "text/javascript; charset=utf-8") == 0);
#define FILE_HEAD "HTTP/1.1 200 *|Cache-Control: public, max-age=31536000, immutable|ETag: '*'|*"
    int64_t plain =
        page_file_heard(s, path, "", FILE_HEAD "|Vary: Accept-Encoding|Content-Type: *");
    int64_t packed = page_file_heard(s, path, "Accept-Encoding: br, gzip|",
                                     FILE_HEAD "|Content-Encoding: gzip|Content-Type: *");
    CHECK_INT(plain, page_file(path, false)->bytes.len);
    CHECK_INT(packed, page_file(path, true)->bytes.len);
    CHECK_INT(page_file_heard(s, path, "Accept-Encoding: gzip;q=0|", FILE_HEAD), plain);
    page_file_heard(s, path, "If-None-Match: *|", "HTTP/1.1 304 *");
    page_file_heard(s, STR("/page/main.js"), "", "HTTP/1.1 404 *load it anew*");
    page_file_heard(s, STR("/page/"), "", "HTTP/1.1 404 *");
    http_fixture_close(s);
}

/* The page's policy lets nothing in that does not come from here: so the page has no script and no style
 * of its own. */
TEST(page_has_nothing_that_its_policy_refuses)
{
    str text = http_page.text(&(struct server){ .options.version = "1" }, check_arena());

    CHECK(!strstr(http_page.fields, "unsafe") && !strstr(http_page.fields, "http"));
    CHECK(!strstr(text.at, "<style") && !strstr(text.at, "style="));
    CHECK(!strstr(text.at, "://"));
    for (const char *at = text.at; (at = strstr(at, "<script")); at++)
        CHECK(str_starts(str_from(at), STR("<script type=\"module\" src=\"page/")));
}

TEST(requests_get_the_answers_of_the_table)
{
    struct http_fixture *s = http_fixture_open(NULL);

    for (size_t i = 0; i < CASES; i++) {
        http_fixture_connect(s);
        http_fixture_ask(s, cases[i].asked);
        if (!text_fits(buf_str(&s->heard).at, cases[i].answered))
            check_fail(__FILE__, __LINE__, "asked    %s\n     expected %s\n     found    %s",
                       cases[i].asked, cases[i].answered, buf_str(&s->heard).at);
        http_fixture_hang_up(s);
    }
    http_fixture_close(s);
}

/* The text that one connection hears when a request comes in two pieces. */
static str heard_cut(struct http_fixture *s, str bytes, size_t at)
{
    http_fixture_connect(s);
    http_fixture_say(s, str_slice(bytes, 0, at));
    if (!str_ends(buf_str(&s->heard), STR("<closed>")))
        http_fixture_say(s, str_slice(bytes, at, bytes.len));
    http_fixture_hang_up(s);
    return arena_copy(check_arena(), buf_str(&s->heard));
}

TEST_LIMIT(a_cut_between_any_two_bytes_changes_nothing, 120)
{
    struct http_fixture *s = http_fixture_open(NULL);

    for (size_t i = 0; i < CASES; i++) {
        if (strstr(cases[i].asked, "/metrics"))
            continue; /* it counts the requests */
        str bytes = text_wire(cases[i].asked);
        str whole = heard_cut(s, bytes, bytes.len);
        for (size_t at = 1; at < bytes.len; at++)
            CHECK_STR(heard_cut(s, bytes, at), whole.at);
    }
    http_fixture_close(s);
}
