// model.mjs: a model on loopback that follows a script, for clients that ask for one over HTTP.
//
// It speaks the messages of Anthropic, the responses of OpenAI and the contents of Gemini, as a stream.
// Whichever it is, the script, which may take its time, sees the same view of the conversation and
// answers with words or with a call:
//
//   view = { asked, since, offered }   what the user asked last (its text), which tools were called
//                                      since then (their own names), and which tools there are
//   say('words'), use('state_read', { … })
//
// No key is looked at: nobody else can reach it. Each turn counts as so many tokens.
import { createServer } from 'node:http';
import { once } from 'node:events';

export const say = (text) => ({ text });
export const use = (tool, input) => ({ tool, input });
export const tokens = { input: 1000, output: 10 };

// Tools of MCP servers bear the server's name: mcp__baton__state_read, mcp_baton_state_read or
// baton_state_read.
const ownName = (name) => name.replace(/^(mcp__.*__|(mcp_)?baton_)/, '');

let turns = 0;
const fresh = (kind) => `${kind}_${++turns}`;

const texts = (content) =>
  typeof content === 'string' ? content : (content ?? []).map((block) => block.text ?? '').join('\n');

// ---- Anthropic: /v1/messages ----

// A message of the user's that carries results of tools is not a question.
function viewOfMessages({ messages, tools = [] }) {
  const isResult = (m) => Array.isArray(m.content) && m.content.some((b) => b.type === 'tool_result');
  const last = messages.findLastIndex((m) => m.role === 'user' && !isResult(m));
  const calls = messages.slice(last + 1).flatMap((m) => (Array.isArray(m.content) ? m.content : []));
  return {
    asked: texts(messages[last]?.content),
    since: calls.filter((block) => block.type === 'tool_use').map((block) => ownName(block.name)),
    offered: tools.map((tool) => tool.name),
  };
}

function blockOf(answer, offered) {
  if (!answer.tool) return { type: 'text', text: answer.text };
  const name = offered.find((offer) => ownName(offer) === answer.tool) ?? answer.tool;
  return { type: 'tool_use', id: fresh('toolu'), name, input: answer.input };
}

function* streamOfMessage(message, block) {
  const { text, input, ...head } = block;
  const start = text === undefined ? { ...head, input: {} } : { ...head, text: '' };
  const delta =
    text === undefined
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text };
  yield { type: 'message_start', message: { ...message, content: [], stop_reason: null } };
  yield { type: 'content_block_start', index: 0, content_block: start };
  yield { type: 'content_block_delta', index: 0, delta };
  yield { type: 'content_block_stop', index: 0 };
  yield {
    type: 'message_delta',
    delta: { stop_reason: message.stop_reason, stop_sequence: null },
    usage: { output_tokens: tokens.output },
  };
  yield { type: 'message_stop' };
}

async function answerMessages(request, script) {
  const view = viewOfMessages(request);
  const block = blockOf(view.offered.length ? await script(view) : say('fine'), view.offered);
  const message = {
    id: fresh('msg'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [block],
    stop_reason: block.type === 'text' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  };
  return request.stream ? { stream: streamOfMessage(message, block) } : { whole: message };
}

// ---- OpenAI: /v1/responses ----

// Tools of an MCP server come one by one, or together in a namespace of that server. A custom tool takes
// a text, and no JSON.
function offersOf(tools) {
  return tools.flatMap((tool) =>
    tool.type === 'namespace'
      ? tool.tools.map(({ name }) => ({ name, namespace: tool.name }))
      : [{ name: tool.name ?? tool.type, ...(tool.type === 'custom' && { free: true }) }],
  );
}

function viewOfResponses({ input, tools = [] }) {
  const last = input.findLastIndex((item) => item.type === 'message' && item.role === 'user');
  const calls = input.slice(last + 1).filter((item) => /^(function|custom_tool)_call$/.test(item.type));
  return {
    asked: texts(input[last]?.content),
    since: calls.map((item) => ownName(item.name)),
    offered: offersOf(tools),
  };
}

function itemOf(answer, offered) {
  if (!answer.tool) {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
    return { type: 'message', id: fresh('msg'), role: 'assistant', status: 'completed', content };
  }
  const { free, ...offer } = offered.find((o) => ownName(o.name) === answer.tool) ?? { name: answer.tool };
  const call = { call_id: fresh('call'), ...offer };
  if (free) return { type: 'custom_tool_call', id: fresh('ctc'), ...call, input: answer.input };
  return { type: 'function_call', id: fresh('fc'), ...call, arguments: JSON.stringify(answer.input) };
}

function* streamOfResponse(response, item) {
  yield { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } };
  yield { type: 'response.output_item.added', output_index: 0, item };
  yield { type: 'response.output_item.done', output_index: 0, item };
  yield { type: 'response.completed', response };
}

async function answerResponses(request, script) {
  const view = viewOfResponses(request);
  const answer = view.offered.length ? await script(view) : say('{"title":"Work"}');
  const item = itemOf(answer, view.offered);
  const response = {
    id: fresh('resp'),
    object: 'response',
    status: 'completed',
    model: request.model,
    output: [item],
    usage: {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens.input + tokens.output,
    },
  };
  return request.stream ? { stream: streamOfResponse(response, item) } : { whole: response };
}

// ---- Gemini: /v1beta/models/NAME:generateContent ----

function viewOfContents({ contents, tools = [] }) {
  const isResult = (c) => c.parts.some((part) => part.functionResponse);
  const last = contents.findLastIndex((c) => c.role === 'user' && !isResult(c));
  const calls = contents.slice(last + 1).flatMap((c) => c.parts.flatMap((part) => part.functionCall ?? []));
  return {
    asked: texts(contents[last]?.parts),
    since: calls.map((call) => ownName(call.name)),
    offered: tools.flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
  };
}

async function contentOf(request, script) {
  const view = viewOfContents(request);
  const answer = view.offered.length ? await script(view) : say('{}');
  const name = view.offered.find((offer) => ownName(offer) === answer.tool) ?? answer.tool;
  const part = answer.tool ? { functionCall: { name, args: answer.input } } : { text: answer.text };
  return {
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
    usageMetadata: {
      promptTokenCount: tokens.input,
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.input + tokens.output,
    },
    modelVersion: 'scripted',
    responseId: fresh('resp'),
  };
}

const answerContents = async (request, script) => ({ whole: await contentOf(request, script) });
const streamContents = async (request, script) => ({ stream: [await contentOf(request, script)] });

// ---- the server ----

const routes = {
  'POST /v1/messages': answerMessages,
  'POST /v1/messages/count_tokens': () => ({ whole: { input_tokens: tokens.input } }),
  'POST /v1/responses': answerResponses,
  'POST /v1beta/models/*:generateContent': answerContents,
  'POST /v1beta/models/*:streamGenerateContent': streamContents,
  'POST /v1beta/models/*:countTokens': () => ({ whole: { totalTokens: tokens.input } }),
};

const routeOf = ({ method, url }) =>
  `${method} ${new URL(url, 'http://x').pathname.replace(/\/models\/[^:/]+:/, '/models/*:')}`;

async function bodyOf(request) {
  let text = '';
  for await (const part of request) text += part;
  return text ? JSON.parse(text) : {};
}

function send(response, { whole, stream }) {
  if (whole) {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    return void response.end(JSON.stringify(whole));
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const event of stream) {
    const name = event.type ? `event: ${event.type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

// Starts one: { url, requests, close() }; of a request there are its route and body, when it came, and
// whether it is over, answered or not. Requests that it has no answer to are errors of this file.
export async function startModel(script) {
  const model = { requests: [], strange: [] };
  const server = createServer(async (request, response) => {
    const route = routeOf(request);
    const body = await bodyOf(request);
    const asked = { route, body, at: Date.now(), over: false };
    model.requests.push(asked);
    response.on('close', () => (asked.over = true));
    const answer = routes[route];
    if (answer) return send(response, await answer(body, script));
    if (request.method !== 'HEAD') model.strange.push(route);
    response.writeHead(request.method === 'HEAD' ? 200 : 404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return model;
}
