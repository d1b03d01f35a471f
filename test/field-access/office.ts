/**
 * An office with employees of every combination of owner, team and visibility, and a model by hand of who sees which of
 * their fields (AUT-13). Each restricted value occurs once in the database, so that its bytes betray where it came from.
 */
import type { TestContext } from 'node:test'
import { staff } from '../declarations-staff.ts'
import { type Received, type Sent, type Trial, trialFor } from '../harness.ts'

export const callers = ['root', 'ann', 'bob', 'eve'] as const
export type Caller = (typeof callers)[number]

export const restricted = ['salary', 'note', 'rating', 'details', 'grade', 'badge'] as const
export type Restricted = (typeof restricted)[number]

/** An employee as stored. */
export interface Employee {
  readonly id: string
  readonly name: string
  readonly salary: number | null
  readonly note: string | null
  readonly rating: number | null
  readonly details: { readonly phone: string } | null
  readonly grade: string
  readonly badge: string | null
  readonly is_public: boolean
  readonly team_id: string | null
  readonly person_id: string
}

/** Whether a caller sees a field of an employee: written from the declaration's meaning, not from its code. */
export function sees(caller: Caller, field: Restricted, employee: Employee, ledByBob: string): boolean {
  const isEditor = caller === 'eve'
  switch (field) {
    case 'salary':
      return isEditor || employee.person_id === caller
    case 'note':
      return employee.is_public
    case 'rating':
      // The other team is led by root.
      return employee.team_id !== null && caller === (employee.team_id === ledByBob ? 'bob' : 'root')
    default:
      return isEditor
  }
}

/** The fields that a caller sees in no record. */
export function seesNever(caller: Caller, field: Restricted): boolean {
  return (field === 'grade' || field === 'badge' || field === 'details') && caller !== 'eve'
}

/** The fields that a caller sees in every record. */
export function seesAlways(caller: Caller, field: Restricted): boolean {
  return caller === 'eve' && field !== 'note' && field !== 'rating'
}

/** The value that a caller sees. */
export function shown(caller: Caller, field: Restricted, employee: Employee, ledByBob: string): unknown {
  return sees(caller, field, employee, ledByBob) ? employee[field] : null
}

export interface Office extends Trial {
  readonly employees: readonly Employee[]
  readonly ledByBob: string
  /** Sends, and checks that the answer has no value that its caller may not see. */
  ask(sent: Sent & { readonly as: Caller }): Promise<Received>
}

/** Opens an office. */
export async function openOffice(context: TestContext): Promise<Office> {
  const trial = await trialFor(context, staff)
  const { make, send } = trial
  const ledByBob = (await make('teams', { name: 'B' }, 'bob')).id
  const ledByRoot = (await make('teams', { name: 'R' }, 'root')).id
  const employees: Employee[] = []
  let number = 0
  for (const owner of ['ann', 'bob'] as const) {
    for (const is_public of [true, false]) {
      for (const team_id of [ledByBob, ledByRoot, null]) {
        number++
        const own = {
          ...{ name: `Person ${number}`, is_public, team_id },
          ...{ note: `note${number}n marvel`, details: { phone: `phone${number}p` }, badge: `badge${number}b` },
        }
        const { id } = await make('employees', own, owner)
        const path = `/v2/employees/${id}`
        const salary = 7_310_000 + number
        const rating = Number(`0.64${100 + number}7`)
        await change(send, { path, as: 'eve', body: { salary } })
        const lead = team_id === ledByBob ? 'bob' : 'root'
        if (team_id !== null) await change(send, { path, as: lead, body: { rating } })
        const record = {
          ...own,
          id,
          salary,
          rating: team_id === null ? null : rating,
          grade: 'junior',
          person_id: owner,
        }
        employees.push(record)
      }
    }
  }
  const ask: Office['ask'] = async (sent) => {
    const answer = await send(sent)
    const found = leaks({ as: sent.as, asked: JSON.stringify(sent) }, answer, employees, ledByBob)
    if (found.length > 0) throw new Error(`${JSON.stringify(sent)} shows ${found.join()}: ${answer.text}`)
    return answer
  }
  return { ...trial, employees, ledByBob, ask }
}

async function change(send: Trial['send'], sent: Sent): Promise<void> {
  const { status, text } = await send({ method: 'PATCH', ...sent })
  if (status !== 200) throw new Error(text)
}

/** The restricted values in an answer that its caller may not see, except those that the caller has sent. */
function leaks(
  { as, asked }: { readonly as: Caller; readonly asked: string },
  { text, headers, json }: Received,
  employees: readonly Employee[],
  ledByBob: string,
): string[] {
  const cursors = [json?.pagination?.next_cursor, json?.pagination?.previous_cursor].filter((each) => each != null)
  const opened = cursors.map((cursor) => Buffer.from(String(cursor), 'base64url').toString('latin1'))
  const all = [text, JSON.stringify(headers), ...opened].join('\n')
  return employees.flatMap((employee) => {
    const values: readonly (readonly [Restricted, string | undefined])[] = [
      ['salary', String(employee.salary)],
      ['note', employee.note?.split(' ')[0]],
      ['rating', employee.rating === null ? undefined : String(employee.rating)],
      ['details', employee.details?.phone],
      ['badge', employee.badge ?? undefined],
    ]
    return values.flatMap(([field, value]) => {
      const isLeak = value !== undefined && all.includes(value) && !asked.includes(value)
      return isLeak && !sees(as, field, employee, ledByBob) ? [`${field} of ${employee.name}`] : []
    })
  })
}
