/** OPTIONS and CORS preflight requests: what an address supports (OPT-1 to OPT-3, MET-6). */
import { type Cors, preflightHeaders } from '../http/cors.ts'
import type { HttpRequest, HttpResponse, ResponseHeaders } from '../http/message.ts'
import { actions, type CallerView } from '../model/declaration.ts'
import { type Catalog, type Resource, storedResource } from '../model/resource.ts'
import { permit } from '../policy/permit.ts'
import { acceptedTypes } from '../request/input.ts'
import { everyMethod, type Found, methodsOf, type Target } from '../request/target.ts'
import { fault } from '../spec/faults.ts'

/** Answers a preflight. It comes without credentials, so the response says what any address of this kind supports. */
export function preflight(cors: Cors, found: Found, { headers }: HttpRequest): HttpResponse {
  const methods = found.kind === 'found' ? methodsOf(found.target) : everyMethod
  return { status: 204, headers: preflightHeaders(cors, headers['origin'], methods), body: undefined }
}

/** Answers `OPTIONS *`: every method that some address supports (OPT-2). */
export function serverOptions(): HttpResponse {
  return { status: 200, headers: { Allow: everyMethod.join(', '), 'Cache-Control': 'no-store' }, body: undefined }
}

/**
 * Answers OPTIONS on an address. The response is the same for every caller who may do anything there.
 *
 * @param vendorType a media type of bodies that means `application/json` too
 * @throws Fault FORBIDDEN if the caller may do nothing with the resource
 */
export function addressOptions(
  catalog: Catalog,
  caller: CallerView | undefined,
  target: Target,
  vendorType?: string,
): HttpResponse {
  if (
    caller !== undefined &&
    'resource' in target &&
    !mayDoAnything(catalog, caller, storedResource(target.resource))
  ) {
    throw fault('FORBIDDEN', {
      detail: `Your credential does not allow anything on ${storedResource(target.resource).name}.`,
    })
  }
  const methods = methodsOf(target)
  const headers: ResponseHeaders = { Allow: methods.join(', '), 'Cache-Control': 'no-store' }
  // A restoration has no body.
  if (methods.includes('POST') && target.kind !== 'restore')
    headers['Accept-Post'] = acceptedTypes('POST', vendorType).join(', ')
  if (methods.includes('PATCH')) headers['Accept-Patch'] = acceptedTypes('PATCH', vendorType).join(', ')
  if (methods.includes('QUERY')) headers['Accept-Query'] = acceptedTypes('QUERY', vendorType).join(', ')
  return { status: 204, headers, body: undefined }
}

function mayDoAnything(catalog: Catalog, caller: CallerView, resource: Resource): boolean {
  return actions.some((action) => permit(catalog, caller, action, resource).kind !== 'never')
}
