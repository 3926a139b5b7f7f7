// node.d.ts: what tests use of node and of what runs a browser; their own types are not installed.
declare module 'node:*'
declare module 'playwright-core'
declare const require: any
declare const process: any
declare const Buffer: any
