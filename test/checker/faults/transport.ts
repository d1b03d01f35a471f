/** Faults of transport and hygiene. */
import { answering } from '../plant/answers.ts'
import { withField, withMembers, without } from '../plant/messages.ts'
import { at, has, isCollection, isNoRecord } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

const isWrong = has('authorization', /^Bearer x{8,}$/)

export const transportFaults: readonly Fault[] = [
  { breaks: 'SEC-1/https', says: 'It is served by plain HTTP.', at: '0.0.0.0', plant: (server) => server },
  {
    breaks: 'SEC-1/plain',
    says: 'Its port speaks plain HTTP, too.',
    secure: true,
    plain: true,
    plant: (server) => server,
  },
  {
    breaks: 'SEC-2/nosniff',
    says: 'Browsers may guess what an error is.',
    plant: answering(isNoRecord, without('x-content-type-options')),
  },
  {
    breaks: 'SEC-2/strict-transport-security',
    says: 'Browsers may ask by plain HTTP.',
    secure: true,
    plant: answering(isCollection, without('strict-transport-security')),
  },
  {
    breaks: 'SEC-3/wrong-credential',
    says: 'It says which credential is wrong.',
    plant: answering(isWrong, (answer, { headers }) =>
      withMembers({ detail: `There is no key ${headers['authorization']}.` })(answer),
    ),
  },
  {
    breaks: 'SEC-3/wrong-credential',
    says: 'It says in a header field which credential is wrong.',
    plant: answering(isWrong, (answer, { headers }) =>
      withField('www-authenticate', `Bearer error="${headers['authorization']}"`)(answer),
    ),
  },
  {
    breaks: 'SEC-3/good-credential',
    says: 'Errors have the request that brought them about.',
    plant: answering(isNoRecord, (answer, request) => withMembers({ detail: JSON.stringify(request.headers) })(answer)),
  },
  {
    breaks: 'SEC-3/parameter',
    says: 'Errors have the whole address.',
    plant: answering(at(/access_token=secret-/), (answer, { path }) => withMembers({ instance: path })(answer)),
  },
]
