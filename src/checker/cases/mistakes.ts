/** Ways to bring about an error. */
import type { Case, Need, Step } from '../case/case.ts'
import { error, one } from '../case/names.ts'
import { base, collection, mark } from '../case/references.ts'
import { asNobody, asOther, body, create } from '../case/steps.ts'

/** A way to make a mistake. Its answer is called `error`. */
export interface Mistake {
  readonly name: string
  readonly title: string
  readonly kind: 'reading' | 'changing'
  readonly needs: readonly Need[]
  readonly after?: readonly Case['id'][]
  readonly step: Step
}

/** A record that is not there. */
export const noRecord: Mistake = {
  ...{ name: 'record', title: 'the address of a record that is not there', kind: 'reading', needs: ['read'] },
  step: error.get(`${collection}/no-such-${mark}`),
}

/** An address that is nothing. */
export const noPath: Mistake = {
  ...{ name: 'path', title: 'an address that is nothing', kind: 'reading', needs: [] },
  step: error.get(`${base}/no-such-${mark}`),
}

/** A body that cannot be read. */
export const malformed: Mistake = {
  ...{ name: 'malformed-json', title: 'a body that ends in the middle', kind: 'changing', needs: ['create'] },
  step: error.post(collection, body.text('{"no-such')),
}

/** A body with bad values. */
export const invalid: Mistake = {
  ...{ name: 'validation', title: 'a body with bad values', kind: 'changing', needs: ['create', 'mistakes'] },
  step: error.post(collection, body.invalid),
}

/** No credential. */
export const noCredential: Mistake = {
  ...{ name: 'no-credential', title: 'a request without a credential', kind: 'reading', needs: ['list'] },
  after: ['AUT-1/list'],
  step: error.get(collection, asNobody),
}

/** A credential that may not do it. */
export const forbidden: Mistake = {
  ...{
    name: 'forbidden',
    title: 'a request that its caller may not make',
    kind: 'changing',
    needs: ['create', 'other', 'no create'],
  },
  after: ['AUT-3/create'],
  step: error.post(collection, body.example, asOther),
}

/** Mistakes that can be made on every server. */
export const common: readonly Mistake[] = [noRecord, noPath, malformed, invalid]

/** What a mistake needs, and a record where its body has to refer to one. */
export function made({ name, kind, needs, after, step }: Mistake) {
  const steps = name === 'forbidden' ? [create(one), step] : [step]
  return { kind, needs, steps, ...(after === undefined ? {} : { after }) }
}
