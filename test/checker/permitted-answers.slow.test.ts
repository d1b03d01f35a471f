/** The checker accepts responses that RFC 9110 permits, and that this server does not send. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { answering, on, withProblem, withStatus } from './plant/answers.ts'
import { withList } from './plant/lists.ts'
import { without } from './plant/messages.ts'
import { at, has, isRecord, of } from './plant/which.ts'
import { type Fault, startPlanted } from './planted.ts'
import { serveShop } from './shop.ts'
import { casesOf, checkShop, tellAll } from './try-faults.ts'

/** Tags that are not of the server's own form. */
const isForeignTag = has('if-match', /of-another/)

const permitted = [
  {
    breaks: 'DEL-3/odd',
    says: '422 for a malformed identifier',
    plant: answering(of('DELETE', at(/__proto__|constructor|clock/)), on(404, withStatus(422))),
    verdict: 'holds',
  },
  ...(['CON-3/status-patch', 'CON-6/404-before-412', 'CON-6/412-before-400', 'HED-1/condition'] as const).map(
    (breaks) => ({
      breaks,
      says: '400 for entity tags of another form',
      plant: answering(isForeignTag, withProblem(400)),
      verdict: 'holds',
    }),
  ),
  {
    breaks: 'CON-3/list-without-put',
    says: '400 for every list of entity tags',
    plant: answering(has('if-match', /,/), withProblem(400)),
    verdict: 'blocked',
  },
  {
    breaks: 'CON-3/weak-put',
    says: '412 for the weak form of every tag, the current one included',
    plant: answering(has('if-match', /^W\//), withProblem(412)),
    verdict: 'holds',
  },
  {
    breaks: 'DEL-1/for-good',
    says: 'include_deleted taken for a filter by a member that no record has',
    plant: answering(
      at(/include_deleted=true/),
      withList((list) => {
        list.data = []
      }),
    ),
    verdict: 'not applicable',
  },
  {
    breaks: 'HED-1/length',
    says: 'HEAD without Content-Length',
    plant: answering(of('HEAD', isRecord), on(200, without('content-length'))),
    verdict: 'not applicable',
  },
  {
    breaks: 'HED-1/query',
    says: '422 for a page size below nothing',
    plant: answering(at(/limit=-1/), on(400, withStatus(422))),
    verdict: 'holds',
  },
  {
    breaks: 'PAG-7/far',
    says: '422 for an enormous page number',
    plant: answering(of('GET', at(/[?&]page=\d{10}/)), on([200, 400], withStatus(422))),
    verdict: 'holds',
  },
  {
    breaks: 'PAG-1/no-number',
    says: '422 for a page size beyond all number types',
    plant: answering(of('GET', at(/=(?:9{20}|-?9223|Infinity|NaN)/)), on(400, withStatus(422))),
    verdict: 'holds',
  },
] satisfies (Fault & { readonly verdict: string })[]

for (const fault of permitted) {
  it(`${fault.breaks}: ${fault.says}`, async (context) => {
    const good = await serveShop()
    context.after(() => good.serving.close())
    const planted = await startPlanted(good.serving.origin, fault, good)
    context.after(() => planted.close())
    const report = await checkShop(good, planted.origin, { only: [fault.breaks.split('/')[0] as string] })
    const found = casesOf(report).find(({ id }) => id === fault.breaks)
    assert.equal(found?.verdict, fault.verdict, tellAll(report))
  })
}
