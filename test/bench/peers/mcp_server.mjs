// mcp_server.mjs: one tool of the TypeScript SDK, which does nothing but answer.
//
//   node mcp_server.mjs PACKAGES DOCUMENT stdio|http
//
// The tool `state_read` answers with the JSON in the file DOCUMENT, kept in memory, as text. Over
// HTTP there is a server with a session for each client, as the SDK's own examples have it, without a
// web framework around it, and answers are plain JSON: the SDK would stream them if it were left to
// itself, which costs it more. Prints the port that it listens on.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, path, transport] = process.argv.slice(2);
const require = createRequire(resolve(packages, 'x.js'));
const load = name => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { StreamableHTTPServerTransport } = await load(
    '@modelcontextprotocol/sdk/server/streamableHttp.js',
);
const { z } = await load('zod');
const document = JSON.parse(readFileSync(path, 'utf8'));

function serverNew() {
    const server = new McpServer({ name: 'peer', version: '1' });
    server.registerTool(
        'state_read',
        { description: 'Reads the state.', inputSchema: { state_id: z.string().optional() } },
        async () => ({ content: [{ type: 'text', text: JSON.stringify(document) }] }),
    );
    return server;
}

const sessions = new Map();

async function sessionNew() {
    const session = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: id => sessions.set(id, session),
    });
    await serverNew().connect(session);
    return session;
}

async function listener(request, response) {
    const known = sessions.get(request.headers['mcp-session-id']);
    await (known ?? (await sessionNew())).handleRequest(request, response);
}

if (transport === 'stdio') {
    await serverNew().connect(new StdioServerTransport());
} else {
    const server = createServer(listener);
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}
