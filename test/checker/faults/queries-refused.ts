/** Faults of what is refused in queries. */
import type { Case } from '../../../packages/check/src/case/case.ts'
import { answering, type Change, on, withFirstError } from '../plant/answers.ts'
import { isList, taking } from '../plant/lists.ts'
import { jsonOf, withMembers } from '../plant/messages.ts'
import { addressing } from '../plant/requests.ts'
import { all, at, not, of } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

/** A fault by which something wrong is read as something right, or left out. */
function forgiving(breaks: Case['id'], says: string, ...taken: Parameters<typeof taking>): Fault {
  return { breaks, says, plant: taking(...taken) }
}

const isOfPages = at(/[?&]page=/)

/** A change of what a credential in an address is refused with. */
const onSecret = (change: Change) =>
  on(400, (answer, request) => (jsonOf(answer)['code'] === 'CREDENTIAL_IN_QUERY' ? change(answer, request) : answer))

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
  {
    breaks: 'QRY-8/together',
    says: 'Unless it is about pages, it stops at the first thing that is wrong.',
    plant: answering(all(isList, not(isOfPages)), on(400, withFirstError)),
  },
  {
    breaks: 'QRY-8/values-together',
    says: 'Unless it is about numbers of pages, it stops at the first value that is wrong.',
    plant: answering(
      all(isList, not(isOfPages)),
      on(400, (answer) => {
        const { errors } = jsonOf(answer) as { readonly errors?: readonly { readonly code: string }[] }
        return errors?.every(({ code }) => /^INVALID_(VALUE|PAGE)$/.test(code)) ? withFirstError(answer) : answer
      }),
    ),
  },
  ...['access_token', 'api_key', 'token', 'password', 'secret'].map((name) =>
    forgiving(`QRY-9/${name.replace('_', '-')}`, `It takes no notice of ${name} in an address.`, name),
  ),
  {
    breaks: 'QRY-9/code',
    says: 'It takes a secret for a parameter that is unknown.',
    plant: answering(isList, onSecret(withMembers({ code: 'INVALID_QUERY' }))),
  },
  {
    breaks: 'QRY-9/not-repeated',
    says: 'Its refusals repeat what was sent.',
    plant: answering(
      isList,
      onSecret((answer, { path }) => withMembers({ detail: `It was ${path}.` })(answer)),
    ),
  },
  forgiving('QRY-9/form', 'It looks at names of parameters alone.', 'name', token()),
  {
    breaks: 'QRY-9/writing',
    says: 'It looks for secrets in requests of lists alone.',
    plant: addressing(of('POST'), /\?access_token=[^&]*$/, ''),
  },
]

function token(): string {
  return 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjaGVja2VkIn0.Y2hlY2tlZC1jaGVja2VkLWNoZWNrZWQ'
}
