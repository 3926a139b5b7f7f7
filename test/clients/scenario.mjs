// scenario.mjs: what each client of MCP does with a root's tools, whatever it is made of.
//
// A seat is one client at one transport: { client, subscribe(uri, changed) → unsubscribe }. The client
// is the SDK's, so that it checks what it is given: our lists against the protocol's types, and each
// tool's structured content against its output schema. `others` is a state of somebody else.
import assert from 'node:assert/strict';
import { check, until } from './harness.mjs';

const schema = {
  name: 'list-of-tasks',
  json_schema: {
    type: 'object',
    required: ['tasks'],
    additionalProperties: false,
    properties: {
      tasks: {
        type: 'array',
        items: {
          type: 'object',
          required: ['title', 'status'],
          properties: { title: { type: 'string' }, status: { enum: ['open', 'done'] } },
        },
      },
    },
  },
};

// Registers the schema; gives the id of a state that belongs to nobody who plays.
export async function prepare(server) {
  await server.call('POST', '/workflow-schemas', schema);
  const initial_data = { tasks: [{ title: 'not yours', status: 'open' }] };
  const state = await server.call('POST', '/workflow-states', { schema_name: schema.name, initial_data });
  return state.state_id;
}

const rootTools = [
  'delete_all_agent_sessions', 'get_agent_session_result', 'get_agent_session_status',
  'list_agent_blueprints', 'list_agent_sessions', 'resume_agent_session', 'send_message', 'start_agent_session',
  'state_create', 'state_patch', 'state_read', 'state_schema', 'state_update',
];

export async function play(named, { client, subscribe }, others) {
  const say = (sentence, body) => check(`${named}: ${sentence}`, body);
  const call = async (name, args = {}) => client.callTool({ name, arguments: args });
  const value = async (name, args) => {
    const result = await call(name, args);
    assert.ok(!result.isError, result.content[0]?.text);
    return JSON.parse(result.content[0].text);
  };
  const patch = (status, expected_version) => ({
    operations: [{ op: 'replace', path: '/tasks/0/status', value: status }],
    expected_version,
  });
  let state;

  await say('a root has the tools of a root, each with a schema of what it takes', async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), rootTools);
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, 'object', tool.name);
      assert.equal(tool.outputSchema, undefined, tool.name);
      assert.ok(tool.description.length > 20, tool.name);
    }
  });
  await say('it creates a state', async () => {
    const initial_data = { tasks: [{ title: 'write it', status: 'open' }] };
    state = await value('state_create', { schema_name: schema.name, initial_data });
    assert.equal(state.version, 1);
  });
  await say('it reads it as its own, and a part of it', async () => {
    const all = await value('state_read');
    assert.equal(all.state_id, state.state_id);
    assert.equal(all.current_data.tasks[0].title, 'write it');
    assert.equal((await value('state_read', { pointer: '/tasks/0/status' })).value, 'open');
  });
  await say('resources, templates and prompts are listed and can be had', async () => {
    const uri = `baton://state/${state.state_id}`;
    const { resources } = await client.listResources();
    assert.ok(resources.some((resource) => resource.uri === uri), JSON.stringify(resources));
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.some((template) => template.uriTemplate.includes('{')));
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].uri, uri);
    assert.match(contents[0].text, /write it/);
    const { prompts } = await client.listPrompts();
    assert.ok(prompts.length > 0);
    const required = prompts.find((prompt) => !(prompt.arguments ?? []).some((a) => a.required));
    assert.ok((await client.getPrompt({ name: required.name })).messages.length > 0);
  });
  await say('it hears that its state has changed', async () => {
    const uri = `baton://state/${state.state_id}`;
    const heard = [];
    const leave = await subscribe(uri, (changed) => heard.push(changed));
    assert.equal((await value('state_patch', patch('done', 1))).version, 2);
    await until('word of the change', () => heard.includes(uri), 10000);
    await leave();
  });
  await say('a conflict is a result that says which version there is', async () => {
    const refused = await call('state_patch', patch('open', 1));
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /current_version: 2\b/);
  });
  await say('what does not fit is a result that says where', async () => {
    const refused = await call('state_patch', patch('lost', 2));
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /\/tasks\/0\/status/);
  });
  await say('it repairs its write with what it was told', async () => {
    assert.equal((await value('state_patch', patch('open', 2))).version, 3);
    assert.equal((await value('state_read')).current_data.tasks[0].status, 'open');
  });
  await say('a state that is not its own is not found', async () => {
    const refused = await call('state_read', { state_id: others });
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /Not found/);
    assert.doesNotMatch(JSON.stringify(refused), /not yours/);
  });
  await say('a tool that there is not is a mistake of the client', async () => {
    await assert.rejects(() => call('no_such_tool'), (error) => error.code === -32602);
  });
}
