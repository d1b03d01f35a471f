/** What the server and the console take beside the public names: the client without its transport, and its parts. */
export { makeClient } from './client.ts'
export { followEvents } from './events.ts'
export { fetchSend } from './fetch-send.ts'
export { retryAfter } from './retrying.ts'
export type { ClientRequest, ClientResponse } from './send.ts'
