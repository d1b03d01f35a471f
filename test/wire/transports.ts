/** The kinds of connection over which the same interface is had. */
export const transports = ['HTTP/1.1', 'HTTP/1.1 over TLS', 'HTTP/2'] as const
/** One of them. */
export type Transport = (typeof transports)[number]
