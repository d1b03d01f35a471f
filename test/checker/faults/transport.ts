/** Faults of transport and hygiene. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { answering, isList, lacking, saying } from './words.ts'

const withDetail = (answer: PlantedAnswer, detail: string) => saying(answer, (body: object) => ({ ...body, detail }))
const isNoRecord = ({ path }: PlantedRequest) => /\/no-such-checked-\w+$/.test(path)

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
    plant: answering(isNoRecord, (answer) => lacking(answer, 'x-content-type-options')),
  },
  {
    breaks: 'SEC-2/strict-transport-security',
    says: 'Browsers may ask by plain HTTP.',
    secure: true,
    plant: answering(isList, (answer) => lacking(answer, 'strict-transport-security')),
  },
  {
    breaks: 'SEC-3/wrong-credential',
    says: 'It says which credential is wrong.',
    plant: answering(
      ({ headers }) => headers['authorization']?.startsWith('Bearer secret-') === true,
      (answer, { headers }) => withDetail(answer, `There is no key ${headers['authorization']}.`),
    ),
  },
  {
    breaks: 'SEC-3/wrong-credential',
    says: 'It says in a header field which credential is wrong.',
    plant: answering(
      ({ headers }) => headers['authorization']?.startsWith('Bearer secret-') === true,
      (answer, { headers }) => ({
        ...answer,
        headers: { ...answer.headers, 'www-authenticate': `Bearer error="${headers['authorization']}"` },
      }),
    ),
  },
  {
    breaks: 'SEC-3/good-credential',
    says: 'Errors have the request that brought them about.',
    plant: answering(isNoRecord, (answer, request) => withDetail(answer, JSON.stringify(request.headers))),
  },
  {
    breaks: 'SEC-3/parameter',
    says: 'Errors have the whole address.',
    plant: answering(
      ({ path }) => path.includes('access_token=secret-'),
      (answer, { path }) => saying(answer, (body: object) => ({ ...body, instance: path })),
    ),
  },
]
