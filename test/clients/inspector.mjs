// inspector.mjs PACKAGES BATON: the Inspector of MCP, by its command line, over HTTP and stdio.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { baton, check, clean, end, folder, from, Server } from './harness.mjs';

const program = from('inspector', '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const server = await Server.start({}, '--runner', 'off');
const home = folder();

await server.call('POST', '/workflow-schemas', { name: 'any', json_schema: true });

// The answer to one method; it connects, asks and leaves.
function ask(target, method, ...more) {
  const args = [program, '--cli', ...target, '--method', method, '--format', 'json', '--quiet', ...more];
  const done = spawnSync(process.execPath, args, {
    env: clean({ HOME: home }),
    encoding: 'utf8',
    timeout: 60000,
  });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  const { result, ...all } = JSON.parse(done.stdout);
  return result ?? all;
}

const call = (target, tool, args) =>
  ask(target, 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));

for (const era of ['legacy', 'modern']) {
  const { token } = await server.session(`root-${era}`);
  const http = [`${server.url}/mcp`, '--header', `Authorization: Bearer ${token}`, '--protocol-era', era];
  const stdio = [baton, 'mcp', '--data', server.data, '--protocol-era', era];
  for (const [place, target] of [['HTTP', http], ['stdio', stdio]]) {
    const named = `Inspector, ${era}, over ${place}`;
    await check(`${named}: it lists tools, whose schemas every client can use`, () => {
      const { tools } = ask(target, 'tools/list', '--strict');
      assert.ok(tools.some((tool) => tool.name === 'state_create'));
    });
    await check(`${named}: it calls a tool`, () => {
      const made = call(target, 'state_create', { schema_name: 'any', initial_data: { a: 1 } });
      assert.equal(JSON.parse(made.content[0].text).version, 1);
    });
  }
}

await check('Inspector: it reads a state as a resource', async () => {
  const { states } = await server.call('GET', '/workflow-states');
  const uri = `baton://state/${states[0].state_id}`;
  const operator = [`${server.url}/mcp`, '--header', `Authorization: Bearer ${server.token}`];
  const { contents } = ask(operator, 'resources/read', '--uri', uri);
  assert.match(contents[0].text, /"a":\s*1/);
});
await end();
