// sdk_v2.mjs PACKAGES BATON: the TypeScript SDK that speaks both eras, in each of its modes, over HTTP
// and stdio.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { play, prepare } from './scenario.mjs';
import { baton, check, clean, end, from, Server } from './harness.mjs';

const sdk = (file) => import(pathToFileURL(from('sdk_v2', `@modelcontextprotocol/client/dist/${file}`)));
const { Client, StreamableHTTPClientTransport } = await sdk('index.mjs');
const { StdioClientTransport } = await sdk('stdio.mjs');

const modes = [
  { named: 'legacy', mode: 'legacy', version: '2025-11-25' },
  { named: 'auto', mode: 'auto', version: '2026-07-28' },
  { named: 'pinned', mode: { pin: '2026-07-28' }, version: '2026-07-28' },
];

const server = await Server.start({ BATON_MCP_WAIT_TIME: '200ms' }, '--runner', 'off');
const others = await prepare(server);

const waits = {
  legacy: 'a wait that takes long ends with the state as it is, and can be repeated',
  modern: 'a wait that takes long goes on in rounds that its caller does not see',
};

// The state of its own gets another version while it waits for that.
async function waitFor(client) {
  const read = async (more) =>
    JSON.parse((await client.callTool({ name: 'state_read', arguments: more })).content[0].text);
  const { state_id, version } = await read({});
  const change = { operations: [{ op: 'add', path: '/tasks/-', value: { title: 'more', status: 'open' } }] };
  let seen = await Promise.all([
    read({ wait_version: version + 1 }),
    sleep(500).then(() => server.call('PATCH', `/workflow-states/${state_id}`, change)),
  ]).then(([first]) => first.version);
  if (client.getProtocolEra() === 'legacy') {
    assert.equal(seen, version);
    seen = (await read({ wait_version: version + 1 })).version;
  }
  assert.equal(seen, version + 1);
}

function subscriber(client) {
  return async (uri, changed) => {
    client.setNotificationHandler('notifications/resources/updated', (n) => changed(n.params.uri));
    if (client.getProtocolEra() === 'legacy') {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    }
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    return async () => {
      await subscription.close();
      assert.equal(await subscription.closed, 'local');
    };
  };
}

async function overHttp(named) {
  const { token } = await server.session(`root-${named}`);
  return new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
}

function overStdio() {
  const args = ['mcp', '--data', server.data];
  return new StdioClientTransport({ command: baton, args, env: clean(), stderr: 'inherit' });
}

for (const { named, mode, version } of modes) {
  for (const [place, transport] of [['HTTP', overHttp], ['stdio', overStdio]]) {
    const client = new Client({ name: `sdk-v2-${named}`, version: '1' }, { versionNegotiation: { mode } });
    const name = `SDK v2, ${named}, over ${place}`;
    await check(`${name}: it connects, and speaks ${version}`, async () => {
      await client.connect(await transport(named));
      assert.equal(client.getNegotiatedProtocolVersion(), version);
    });
    await play(name, { client, subscribe: subscriber(client) }, others);
    await check(`${name}: ${waits[client.getProtocolEra()]}`, () => waitFor(client));
    await client.close();
  }
}
await end();
