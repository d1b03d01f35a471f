/** Faults of what is refused in queries. */
import type { Case } from '../../../src/checker/case.ts'
import { asking, listParameters } from '../lists.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'

/** A fault by which something wrong is read as something right, or left out. */
function forgiving(breaks: Case['id'], says: string, name: string | RegExp, wrong?: string, right?: string): Fault {
  return {
    breaks,
    says,
    plant: asking((parameters) => {
      for (const [each, value] of [...parameters]) {
        if (!(typeof name === 'string' ? each === name : name.test(each))) continue
        if (wrong !== undefined && value !== wrong) continue
        if (right === undefined) parameters.delete(each)
        else parameters.set(each, right)
      }
    }),
  }
}

/** A fault in how lists are refused. */
function refusing(
  breaks: Case['id'],
  says: string,
  change: (problem: Record<string, unknown>, request: PlantedRequest) => void,
): Fault {
  return {
    breaks,
    says,
    plant: (server) => async (request) => {
      const answer: PlantedAnswer = await server(request)
      if (answer.status !== 400 || listParameters(request) === undefined) return answer
      const problem = JSON.parse(answer.body)
      change(problem, request)
      return { ...answer, body: JSON.stringify(problem) }
    },
  }
}

export const refusalFaults: readonly Fault[] = [
  forgiving('QRY-8/parameter', 'It takes no notice of parameters that it does not know.', 'no_such_parameter'),
  forgiving(
    'QRY-8/prototype',
    'It looks parameters up in an object, and finds what every object has.',
    /^(__proto__|constructor|toString)$/,
  ),
  forgiving('QRY-8/sort', 'It takes no notice of an order by what is no field.', 'sort', 'no_such_field'),
  forgiving('QRY-8/fields', 'It leaves out of fields what is no field.', 'fields', 'no_such_field'),
  forgiving('QRY-8/type', 'It reads numbers that are none as zero.', 'price', 'much', '0'),
  forgiving('QRY-8/boolean', 'It takes any value of include_deleted for true.', 'include_deleted', 'perhaps', 'true'),
  forgiving('QRY-8/page', 'It shows the first page where it cannot read which.', 'page', 'first', '1'),
  forgiving('QRY-8/operator', 'It takes no notice of operators that it does not know.', /\[no_such_operator\]$/),
  forgiving('QRY-8/operator-fits', 'It takes no notice of operators that do not fit.', 'price[contains]'),
  refusing(
    'QRY-8/together',
    'Unless it is about pages, it stops at the first thing that is wrong.',
    (problem, { path }) => {
      if (/[?&]page=/.test(path)) return
      if (Array.isArray(problem['errors'])) problem['errors'] = problem['errors'].slice(0, 1)
    },
  ),
  refusing(
    'QRY-8/values-together',
    'Unless it is about numbers of pages, it stops at the first value that is wrong.',
    (problem, { path }) => {
      if (/[?&]page=/.test(path)) return
      const errors = problem['errors'] as { code: string }[] | undefined
      if (errors?.every(({ code }) => /^INVALID_(VALUE|PAGE)$/.test(code))) problem['errors'] = errors.slice(0, 1)
    },
  ),
  ...['access_token', 'api_key', 'token', 'password', 'secret'].map((name) =>
    forgiving(`QRY-9/${name.replace('_', '-')}`, `It takes no notice of ${name} in an address.`, name),
  ),
  refusing('QRY-9/code', 'It takes a secret for a parameter that is unknown.', (problem) => {
    if (problem['code'] === 'CREDENTIAL_IN_QUERY') problem['code'] = 'INVALID_QUERY'
  }),
  refusing('QRY-9/not-repeated', 'Its refusals repeat what was sent.', (problem, { path }) => {
    if (problem['code'] === 'CREDENTIAL_IN_QUERY') problem['detail'] += ` It was ${path}.`
  }),
  forgiving('QRY-9/form', 'It looks at names of parameters alone.', 'name', token()),
  {
    breaks: 'QRY-9/writing',
    says: 'It looks for secrets in requests of lists alone.',
    plant: (server) => (request) =>
      server(
        request.method === 'POST' ? { ...request, path: request.path.replace(/\?access_token=[^&]*$/, '') } : request,
      ),
  },
]

function token(): string {
  return 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjaGVja2VkIn0.Y2hlY2tlZC1jaGVja2VkLWNoZWNrZWQ'
}
