/** Faults of what records hold, and of odd requests. */
import type { Fault } from '../../planted.ts'
import {
  answering,
  answeringJson,
  asking,
  created,
  documented,
  isCollection,
  isNested,
  isRecord,
  leaving,
  objectIn,
  of,
  sending,
  written,
} from '../../plants.ts'

export const recordsFaults: readonly Fault[] = [
  {
    breaks: 'RES-6/live',
    says: 'The answer to PATCH has the time of the change as deleted_at.',
    plant: answeringJson(of('PATCH', isRecord), (body) => ({ ...body, deleted_at: body.updated_at })),
  },
  {
    breaks: 'RES-6/absent',
    says: 'The answer to PATCH has deleted_at with null.',
    plant: answeringJson(of('PATCH', isRecord), (body) => ({ ...body, deleted_at: null })),
  },
  {
    breaks: 'RES-6/deleted',
    says: 'Lists call the time of a deletion otherwise.',
    plant: written(of('GET', isCollection), '"deleted_at"', '"removed_at"'),
  },
  {
    breaks: 'RES-7/records',
    says: 'One member of a record is in kebab-case.',
    plant: documented('long_label', 'long-label'),
  },
  {
    breaks: 'RES-7/lists',
    says: 'The size of a page is written with a capital.',
    plant: written(of('GET', isCollection), '"limit":', '"Limit":'),
  },
  {
    breaks: 'RES-7/errors',
    says: 'Errors of validation name the resource in camelCase.',
    plant: answering((answer, { method }) =>
      method === 'POST' && answer.status === 400
        ? { ...answer, body: answer.body.replace('{', '{"resourceName":"items",') }
        : answer,
    ),
  },
  {
    breaks: 'RES-8/created',
    says: 'The answer to POST lacks what has no value.',
    plant: created(({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/listed',
    says: 'Lists call a member otherwise.',
    plant: written(of('GET', isCollection), /"long_label"(?=.*"total_count":1[,}])/gs, '"label_long"'),
  },
  {
    breaks: 'RES-8/updated',
    says: 'The answer to PATCH lacks a member.',
    plant: answeringJson(of('PATCH', isRecord), ({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/replaced',
    says: 'The answer to PUT lacks a member.',
    plant: answeringJson(of('PUT', isRecord), ({ long_label: _, ...rest }) => rest),
  },
  {
    breaks: 'RES-8/nested',
    says: 'Nested lists call a member otherwise.',
    plant: written(of('GET', isNested), '"long_label"', '"label_long"'),
  },
  {
    breaks: 'RES-8/restored',
    says: 'The answer to restore lacks a member.',
    plant: answeringJson(
      of('POST', ({ path }) => path.endsWith('/restore')),
      ({ long_label: _, ...rest }) => rest,
    ),
  },
  {
    breaks: 'RES-8/empty',
    says: 'What has no value is left out.',
    plant: written(() => true, '"note":null,', ' '.repeat(12)),
  },
  {
    breaks: 'RES-9/unknown-in-post',
    says: 'POST leaves unknown members aside.',
    plant: leaving('POST', 'unheard_of', 'unheard_too'),
  },
  {
    breaks: 'RES-9/unknown-in-patch',
    says: 'PATCH leaves unknown members aside.',
    plant: leaving('PATCH', 'unheard_of'),
  },
  { breaks: 'RES-9/unknown-in-put', says: 'PUT leaves unknown members aside.', plant: leaving('PUT', 'unheard_of') },
  {
    breaks: 'RES-9/each-unknown',
    says: 'It tells the first unknown member alone.',
    plant: leaving('POST', 'unheard_too'),
  },
  {
    breaks: 'RES-9/prototype',
    says: 'Members with a meaning for JavaScript are lost when the body is read.',
    plant: asking((request) =>
      request.method === 'POST' && request.body.includes('"__proto__"')
        ? sending(request, (body) =>
            Object.fromEntries(Object.entries(body).filter(([name]) => !['__proto__', 'constructor'].includes(name))),
          )
        : request,
    ),
  },
  {
    breaks: 'RES-9/read-only-repeated',
    says: 'PUT takes no id at all.',
    plant: asking((request) =>
      request.method !== 'PUT' || objectIn(request.body)?.id === undefined
        ? request
        : sending(request, (body) => ({ ...body, id: 0 })),
    ),
  },
  {
    breaks: 'RES-9/read-only-changed',
    says: 'PUT leaves another time of creation aside.',
    plant: leaving('PUT', 'created_at'),
  },
  {
    breaks: 'RES-10/slash-after-collection',
    says: 'A slash after a collection makes no difference.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/^(\/v\d+\/[a-z-]+)\/$/, '$1') })),
  },
  {
    breaks: 'RES-10/slash-after-record',
    says: 'A slash after a record makes no difference to GET.',
    plant: asking((request) =>
      request.method === 'GET'
        ? { ...request, path: request.path.replace(/^(\/v\d+\/[a-z-]+\/[0-9a-f-]{36})\/$/, '$1') }
        : request,
    ),
  },
  {
    breaks: 'RES-10/slash-deletes-nothing',
    says: 'A slash after a record makes no difference to DELETE.',
    plant: asking((request) =>
      request.method === 'DELETE' ? { ...request, path: request.path.replace(/\/$/, '') } : request,
    ),
  },
  {
    breaks: 'RES-10/empty-segment',
    says: 'Two slashes are one.',
    plant: asking((request) => ({ ...request, path: request.path.replace(/\/\/+/g, '/') })),
  },
  {
    breaks: 'RES-10/escape',
    says: 'It looks for a record by what cannot be decoded.',
    plant: answering((answer, { path }) =>
      answer.status === 400 && /\/%(?:zz|$|ff|c0)/.test(path) ? { ...answer, status: 404 } : answer,
    ),
  },
]
