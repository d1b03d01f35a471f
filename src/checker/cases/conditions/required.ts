/** CON-7: a collection may demand conditions. */
import type { Case, Need, Request } from '../../case/case.ts'
import { done, sameBody, status } from '../../case/expect.ts'
import { after, one, seen } from '../../case/names.ts'
import { references } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'

const [write] = references('write')

interface Write {
  readonly method: string
  readonly needs: readonly Need[]
  readonly body?: Request['body']
}

const writes: readonly Write[] = [
  { method: 'PUT', needs: ['replace'], body: body.example },
  { method: 'PATCH', needs: ['update', 'change'], body: body.change },
  { method: 'DELETE', needs: ['delete'] },
]

const mend =
  'Where a collection demands conditions answer 428 to PUT, PATCH and DELETE that have none, and say in the message that If-Match is wanted.'

export const required: readonly Case[] = writes.flatMap(({ method, needs, body }): Case[] => {
  const name = method.toLowerCase()
  const common = {
    kind: 'changing' as const,
    needs: ['conditional', 'create', 'read', ...needs] as const,
    remedy: mend,
  }
  const more = body === undefined ? {} : { body }
  return [
    {
      id: `CON-7/${name}`,
      title: `Where conditions are demanded, ${method} without one is answered 428 and changes nothing`,
      ...common,
      steps: [create(one), setUp(seen.get(one)), write.send(method, one, more), after.get(one)],
      expect: [status(write, 428), status(after, 200), sameBody(after, seen)],
    },
    {
      id: `CON-7/${name}-with`,
      title: `Where conditions are demanded, ${method} with one that fits is carried out`,
      ...common,
      after: [`CON-3/fits-${name}`, `CON-3/other-${name}`, `CON-7/${name}`],
      steps: [
        create(one),
        setUp(seen.get(one)),
        write.send(method, one, { ...more, headers: { 'If-Match': seen.etag } }),
      ],
      expect: [done(write)],
    },
  ]
})
