// sdk_v1.mjs PACKAGES BATON: the TypeScript SDK of the older revisions, over HTTP and stdio.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { play, prepare } from './scenario.mjs';
import { baton, check, clean, end, from, Server } from './harness.mjs';

const sdk = (file) => import(pathToFileURL(from('sdk_v1', `@modelcontextprotocol/sdk/dist/esm/${file}`)));
const { Client } = await sdk('client/index.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { StdioClientTransport } = await sdk('client/stdio.js');
const { ResourceUpdatedNotificationSchema } = await sdk('types.js');

async function seat(transport) {
  const client = new Client({ name: 'sdk-v1', version: '1' });
  await client.connect(transport);
  const subscribe = async (uri, changed) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => changed(n.params.uri));
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  };
  return { client, subscribe };
}

const server = await Server.start({}, '--runner', 'off');
const others = await prepare(server);

const { token } = await server.session('root');
const http = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
const overHttp = await seat(http);
await play('SDK v1 over HTTP', overHttp, others);
await check('SDK v1 over HTTP: it has a session of the protocol, and ends it', async () => {
  assert.equal(http.protocolVersion, '2025-11-25');
  assert.ok(http.sessionId);
  await http.terminateSession();
  await overHttp.client.close();
});

const pipe = new StdioClientTransport({
  command: baton,
  args: ['mcp', '--data', server.data],
  env: clean(),
  stderr: 'inherit',
});
const overStdio = await seat(pipe);
await play('SDK v1 over stdio', overStdio, others);
await check('SDK v1 over stdio: it has acted as a root of its own', async () => {
  await overStdio.client.close();
  const { sessions } = await server.call('GET', '/sessions');
  const made = sessions.find((session) => session.session_name.startsWith('sdk-v1-'));
  assert.equal(made?.parent_session_id, null);
  assert.match(made.workflow_state_id, /^wfstate_/);
});
await end();
