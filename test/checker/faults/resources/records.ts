/** Faults of what records hold, and of odd requests. */
import { answering, creating, on, withStatus } from '../../plant/answers.ts'
import { withJson, withMembers, withoutMembers } from '../../plant/messages.ts'
import { addressing, asking } from '../../plant/requests.ts'
import { naming, writing } from '../../plant/texts.ts'
import { always, at, isCollection, isNested, isRecord, isRestore, of, sends } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

export const recordsFaults: readonly Fault[] = [
  {
    breaks: 'RES-6/live',
    says: 'The answer to PATCH has the time of the change as deleted_at.',
    plant: answering(
      of('PATCH', isRecord),
      on(
        200,
        withJson((body) => ({ ...body, deleted_at: body['updated_at'] })),
      ),
    ),
  },
  {
    breaks: 'RES-6/absent',
    says: 'The answer to PATCH has deleted_at with null.',
    plant: answering(of('PATCH', isRecord), on(200, withMembers({ deleted_at: null }))),
  },
  {
    breaks: 'RES-6/deleted',
    says: 'Lists call the time of a deletion otherwise.',
    plant: writing(of('GET', isCollection), '"deleted_at"', '"removed_at"'),
  },
  {
    breaks: 'RES-7/records',
    says: 'One member of a record is in kebab-case.',
    plant: naming('long_label', 'long-label'),
  },
  {
    breaks: 'RES-7/lists',
    says: 'The size of a page is written with a capital.',
    plant: writing(of('GET', isCollection), '"limit":', '"Limit":'),
  },
  {
    breaks: 'RES-7/errors',
    says: 'Errors of validation name the resource in camelCase.',
    plant: answering(of('POST'), on(400, withMembers({ resourceName: 'items' }))),
  },
  {
    breaks: 'RES-8/created',
    says: 'The answer to POST lacks what has no value.',
    plant: creating(withoutMembers('long_label')),
  },
  {
    breaks: 'RES-8/listed',
    says: 'Lists call a member otherwise.',
    plant: writing(of('GET', isCollection), /"long_label"(?=.*"total_count":1[,}])/gs, '"label_long"'),
  },
  {
    breaks: 'RES-8/updated',
    says: 'The answer to PATCH lacks a member.',
    plant: answering(of('PATCH', isRecord), on(200, withoutMembers('long_label'))),
  },
  {
    breaks: 'RES-8/replaced',
    says: 'The answer to PUT lacks a member.',
    plant: answering(of('PUT', isRecord), on(200, withoutMembers('long_label'))),
  },
  {
    breaks: 'RES-8/nested',
    says: 'Nested lists call a member otherwise.',
    plant: writing(of('GET', isNested), '"long_label"', '"label_long"'),
  },
  {
    breaks: 'RES-8/restored',
    says: 'The answer to restore lacks a member.',
    plant: answering(isRestore, on(200, withoutMembers('long_label'))),
  },
  {
    breaks: 'RES-8/empty',
    says: 'What has no value is left out.',
    plant: writing(always, '"note":null,', ' '.repeat(12)),
  },
  {
    breaks: 'RES-9/unknown-in-post',
    says: 'POST leaves unknown members aside.',
    plant: asking(of('POST'), withoutMembers('unheard_of', 'unheard_too')),
  },
  {
    breaks: 'RES-9/unknown-in-patch',
    says: 'PATCH leaves unknown members aside.',
    plant: asking(of('PATCH'), withoutMembers('unheard_of')),
  },
  {
    breaks: 'RES-9/unknown-in-put',
    says: 'PUT leaves unknown members aside.',
    plant: asking(of('PUT'), withoutMembers('unheard_of')),
  },
  {
    breaks: 'RES-9/each-unknown',
    says: 'It tells the first unknown member alone.',
    plant: asking(of('POST'), withoutMembers('unheard_too')),
  },
  {
    breaks: 'RES-9/prototype',
    says: 'Members with a meaning for JavaScript are lost when the body is read.',
    plant: asking(of('POST', sends(/"__proto__"/)), withoutMembers('__proto__', 'constructor')),
  },
  {
    breaks: 'RES-9/read-only-repeated',
    says: 'PUT takes no id at all.',
    plant: asking(
      of('PUT'),
      withJson((body) => ('id' in body ? { ...body, id: 0 } : body)),
    ),
  },
  {
    breaks: 'RES-9/read-only-changed',
    says: 'PUT leaves another time of creation aside.',
    plant: asking(of('PUT'), withoutMembers('created_at')),
  },
  {
    breaks: 'RES-10/slash-after-collection',
    says: 'A slash after a collection makes no difference.',
    plant: addressing(always, /^(\/v\d+\/[a-z-]+)\/$/, '$1'),
  },
  {
    breaks: 'RES-10/slash-after-record',
    says: 'A slash after a record makes no difference to GET.',
    plant: addressing(of('GET'), /^(\/v\d+\/[a-z-]+\/[0-9a-f-]{36})\/$/, '$1'),
  },
  {
    breaks: 'RES-10/slash-deletes-nothing',
    says: 'A slash after a record makes no difference to DELETE.',
    plant: addressing(of('DELETE'), /\/$/, ''),
  },
  {
    breaks: 'RES-10/empty-segment',
    says: 'Two slashes are one.',
    plant: addressing(always, /\/\/+/g, '/'),
  },
  {
    breaks: 'RES-10/escape',
    says: 'It looks for a record by what cannot be decoded.',
    plant: answering(at(/\/%(?:zz|$|ff|c0)/), on(400, withStatus(404))),
  },
]
