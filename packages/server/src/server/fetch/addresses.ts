/** The client's address on the platforms of the fetch API, for the option `address` of `toFetchHandler`. */
import { readForwarded } from 'resourced-contract/fields/header-fields'
import { plainAddress } from '../../http/message.ts'

/** The server of Bun, which `Bun.serve` passes to its handler. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/** What `Deno.serve` passes to its handler; sockets of the file system have no host name. */
export interface DenoInfo {
  readonly remoteAddr: { readonly hostname?: string } | { readonly transport: string }
}

/** A context of Hono on Node.js (`@hono/node-server`), Bun or Deno. */
export interface HonoContext {
  readonly env: unknown
}

/**
 * The client's address in Bun.
 *
 * @example
 * Bun.serve({ fetch: toFetchHandler(app, { address: bunAddress }) })
 */
export function bunAddress(request: Request, server: BunServer): string | undefined {
  return plain(server.requestIP(request)?.address)
}

/**
 * The client's address in Deno.
 *
 * @example
 * Deno.serve(toFetchHandler(app, { address: denoAddress }))
 */
export function denoAddress(_: Request, { remoteAddr }: DenoInfo): string | undefined {
  return plain('hostname' in remoteAddr ? remoteAddr.hostname : undefined)
}

/** The parts of Hono's `env` that have the address, by platform. */
interface HonoPlatform {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string } }
  readonly remoteAddr?: DenoInfo['remoteAddr']
  readonly requestIP?: BunServer['requestIP']
  readonly server?: BunServer
}

/**
 * The client's address in Hono, on Node.js, Bun or Deno.
 *
 * @example
 * const handler = toFetchHandler(app, { address: honoAddress })
 * hono.all('/api/*', (context) => handler(context.req.raw, context))
 */
export function honoAddress(request: Request, { env }: HonoContext): string | undefined {
  const platform = (env ?? {}) as HonoPlatform
  if (platform.incoming !== undefined) return plain(platform.incoming.socket.remoteAddress)
  if (platform.remoteAddr !== undefined) return denoAddress(request, { remoteAddr: platform.remoteAddr })
  const server = platform.requestIP === undefined ? platform.server : (platform as BunServer)
  return server === undefined ? undefined : bunAddress(request, server)
}

/**
 * The client's address as the nearest proxy wrote it to `Forwarded` or `X-Forwarded-For`. Use it only behind a proxy
 * that always writes one of them: otherwise clients invent their address.
 *
 * @example
 * const handler = toFetchHandler(app, { address: forwardedAddress })
 */
export function forwardedAddress(request: Request): string | undefined {
  const fields = ['forwarded', 'x-forwarded-for', 'x-forwarded-proto']
  return readForwarded(Object.fromEntries(fields.map((name) => [name, request.headers.get(name) ?? undefined]))).address
}

function plain(address: string | undefined): string | undefined {
  return address === undefined ? undefined : plainAddress(address)
}
