// ws.mjs: the server's WebSocket as the library `ws` of Node.js finds it.
//
//   BATON_URL, BATON_TOKEN, BATON_PID, BATON_CLIENTS (the folder with node_modules) are set.
//
// Is silent when all is well. Ends the server, to see how it says goodbye.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { BATON_URL: base, BATON_TOKEN: token, BATON_PID: pid, BATON_CLIENTS: clients } = process.env;
const WebSocket = createRequire(join(clients, 'node_modules/'))('ws');
const address = base.replace('http:', 'ws:') + '/ws';
const authorization = { Authorization: `Bearer ${token}` };

async function call(method, path, body, expected) {
    const answer = await fetch(base + path, {
        method,
        headers: { ...authorization, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
    });
    assert.equal(answer.status, expected, `${method} ${path}`);
    return answer.status === 204 ? null : answer.json();
}

// A connection whose messages can be waited for one by one.
class Peer {
    constructor(protocols, options) {
        this.messages = [];
        this.waiting = [];
        this.pings = 0;
        this.socket = new WebSocket(address, protocols, options);
        this.socket.on('message', (data) => this.take(JSON.parse(data)));
        this.socket.on('ping', () => this.pings++);
        this.opened = new Promise((done, fail) => {
            this.socket.on('open', () => done(this));
            this.socket.on('error', fail);
        });
        this.opened.catch(() => {});
        this.closed = new Promise((done) =>
            this.socket.on('close', (code, reason) => done({ code, reason: String(reason) })),
        );
    }

    take(message) {
        const next = this.waiting.shift();
        if (next) next(message);
        else this.messages.push(message);
    }

    next() {
        if (this.messages.length) return Promise.resolve(this.messages.shift());
        return new Promise((done) => this.waiting.push(done));
    }

    say(message) {
        this.socket.send(JSON.stringify(message));
    }
}

const known = () => new Peer([], { headers: authorization }).opened;

async function replayThenLive(id) {
    const peer = await known();
    assert.equal(peer.socket.extensions, '');
    peer.say({ action: 'subscribe', state_id: id, after: 0 });
    assert.equal((await peer.next()).type, 'snapshot');
    for (const version of [1, 2, 3]) {
        const event = await peer.next();
        assert.equal(event.state_id, id);
        assert.equal(event.version, version);
    }
    const caughtUp = await peer.next();
    assert.equal(caughtUp.type, 'caught_up');

    const operations = [{ op: 'replace', path: '/n', value: 4 }];
    await call('PATCH', `/workflow-states/${id}`, { operations }, 200);
    const live = await peer.next();
    assert.equal(live.event_type, 'workflow_state_updated');
    assert.equal(live.version, 4);
    assert.equal(live.seq, caughtUp.seq + 1);
    assert.deepEqual(live.patch, operations);
    assert.ok(Date.parse(live.timestamp) <= Date.now() + 1000);

    // What was seen does not come again.
    peer.say({ action: 'unsubscribe', state_id: id });
    assert.equal((await peer.next()).type, 'unsubscribed');
    peer.say({ action: 'subscribe', state_id: id, after: live.seq - 1 });
    assert.equal((await peer.next()).type, 'snapshot');
    assert.equal((await peer.next()).version, 4);
    assert.equal((await peer.next()).type, 'caught_up');
    peer.socket.close(1000);
    assert.equal((await peer.closed).code, 1000);
}

async function tokenByProtocolOrMessage(id) {
    const page = await new Peer(['baton.v1', `bearer.${token}`]).opened;
    assert.equal(page.socket.protocol, 'baton.v1');
    page.say({ action: 'subscribe', state_id: id });
    assert.equal((await page.next()).type, 'snapshot');
    page.socket.close();

    const late = await new Peer([]).opened;
    late.say({ action: 'auth', token });
    assert.equal((await late.next()).type, 'authenticated');
    late.socket.close();
}

async function strangers() {
    const shown = new Peer([], { headers: { Authorization: 'Bearer op_none.nothing' } });
    await assert.rejects(shown.opened, /401/);
    const foreign = new Peer([], { headers: authorization, origin: 'http://evil.example' });
    await assert.rejects(foreign.opened, /403/);
    assert.equal((await new Peer(['baton.v1', 'bearer.op_none.nothing']).closed).code, 1008);
    const silent = await new Peer([]).opened;
    silent.say({ action: 'ping' });
    assert.equal((await silent.closed).code, 1008);
}

async function pings() {
    const peer = await known();
    const pong = new Promise((done) => peer.socket.on('pong', (data) => done(String(data))));
    peer.socket.ping('are you there');
    assert.equal(await pong, 'are you there');
    peer.say({ action: 'ping', id: 7 });
    assert.deepEqual(await peer.next(), { type: 'pong', id: 7 });
    // The server asks too, and stays because the library answers.
    while (peer.pings < 5) await new Promise((done) => peer.socket.once('ping', done));
    assert.equal(peer.socket.readyState, WebSocket.OPEN);
    peer.socket.close();
}

async function oddMessages() {
    const peer = await known();
    peer.socket.send('{"action":', { fin: false });
    peer.socket.send('"ping"}', { fin: true });
    assert.equal((await peer.next()).type, 'pong');
    peer.socket.send('{', {});
    assert.equal((await peer.next()).status, 400);
    peer.socket.send(Buffer.from([1, 2, 3]));
    assert.equal((await peer.next()).status, 415);
    peer.say({ action: 'ping' });
    assert.equal((await peer.next()).type, 'pong');
    peer.socket.send('x'.repeat((1 << 20) + 1));
    assert.equal((await peer.closed).code, 1009);
}

async function revoked() {
    const made = await call('POST', '/tokens', { kind: 'viewer' }, 201);
    const peer = await new Peer([], { headers: { Authorization: `Bearer ${made.token}` } }).opened;
    await call('DELETE', `/tokens/${made.token_id}`, null, 204);
    assert.equal((await peer.closed).code, 1008);
}

async function goodbye() {
    const peer = await known();
    process.kill(Number(pid), 'SIGTERM');
    assert.equal((await peer.closed).code, 1001);
}

await call('POST', '/workflow-schemas', { name: 'any', json_schema: true }, 201);
const made = await call('POST', '/workflow-states', { schema_name: 'any', initial_data: {} }, 201);
const id = made.state_id;
await call('PUT', `/workflow-states/${id}`, { data: { n: 2 } }, 200);
await call('PUT', `/workflow-states/${id}`, { data: { n: 3 } }, 200);
await replayThenLive(id);
await tokenByProtocolOrMessage(id);
await strangers();
await pings();
await oddMessages();
await revoked();
await goodbye();
