/**
 * Every case can fail: there is a fault for each, on which it fails, and none of the cases that it needs. With
 * CHECKER=rule, as before a release, the other cases of its rule are tried too, and must not fail; with CHECKER=section
 * all of its section, with CHECKER=whole all that there are, which takes the better part of an hour.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Case, ruleOf } from '../../packages/check/src/case/case.ts'
import { cases } from '../../packages/check/src/cases/cases.ts'
import { Client } from '../../packages/check/src/client/client.ts'
import { type CheckOptions, check, type Report } from '../../packages/check/src/run/check.ts'
import { type Fault, startPlanted } from './planted.ts'
import { type Shop, serveShop } from './shop.ts'

const beside = process.env.CHECKER ?? 'case'

/** What is tried on a fault. */
function triedWith({ breaks }: Fault): Pick<CheckOptions, 'cases' | 'only'> {
  const rule = ruleOf({ id: breaks })
  if (beside === 'whole') return {}
  if (beside === 'case') return { cases: cases.filter(({ id }) => id === breaks || needs(breaks, id)) }
  return { only: beside === 'section' ? [rule.slice(0, rule.indexOf('-'))] : [rule] }
}

// Cases that compare any answer with the document.
const echoes = new Set(['DOC-1/reads', 'DOC-1/least', 'DOC-1/writes', 'DOC-1/errors'])

/** Tries the faults of a section's cases. */
export function tryFaults(title: string, section: readonly Case[], faults: readonly Fault[]): void {
  describe(title, { concurrency: 3 }, () => {
    it('each case has its fault', () => {
      assert.deepEqual(
        section.map(({ id }) => id).filter((id) => !faults.some(({ breaks }) => breaks === id)),
        [],
      )
    })

    for (const fault of faults) {
      it(`${fault.breaks} finds it: ${fault.says}`, async () => {
        // Of its own: some faults leave things behind.
        const good = await serveShop(fault.secure ? { secure: true } : {})
        const planted = await startPlanted(good.serving.origin, fault, good)
        try {
          const profile = fault.profile?.(good.profile) ?? good.profile
          const report = await checkShop({ ...good, profile }, planted.origin, {
            ...triedWith(fault),
            ...keyIn(good, fault),
          })
          const bad = casesOf(report).filter(
            ({ id, verdict }) =>
              (verdict === 'fails' || verdict === 'advice') &&
              (!isEcho(id) || isEcho(fault.breaks)) &&
              fault.also?.includes(id) !== true,
          )
          assert.deepEqual(
            bad.map(({ id }) => id),
            [fault.breaks],
            tellAll(report),
          )
          const blocked = casesOf(report)
            .filter(({ verdict }) => verdict === 'blocked')
            .map(({ id }) => id)
          assert.deepEqual(
            blocked.filter((id) => ![fault.breaks, ...(fault.also ?? [])].some((each) => needs(id, each))),
            [],
            'only what needs it is blocked',
          )
          assert.deepEqual(
            casesOf(report)
              .filter(({ verdict }) => verdict === 'not set up')
              .map(({ id, why }) => `${id}: ${why}`),
            [],
          )
        } finally {
          await planted.close()
          await good.serving.close()
        }
      })
    }
  })
}

/** Checks the shop through another origin. */
export async function checkShop(
  { profile, key, otherKey, certificate }: Shop,
  origin: string,
  more: Partial<CheckOptions> = {},
): Promise<Report> {
  const moved = JSON.parse(JSON.stringify(profile).replaceAll(new URL(profile.base).origin, origin))
  const client = new Client({ ca: certificate?.cert })
  try {
    return await check({
      ...{ profile: moved, client },
      credential: [['Authorization', `Bearer ${key}`]],
      other: [['Authorization', `Bearer ${otherKey}`]],
      ...more,
    })
  } finally {
    client.close()
  }
}

/** Where callers send their key elsewhere than in `Authorization`. */
function keyIn({ key, otherKey }: Shop, { keyIn }: Fault): Partial<CheckOptions> {
  return keyIn === undefined ? {} : { credential: [[keyIn, key]], other: [[keyIn, otherKey]] }
}

/** What is not as a rule says is not as the document says either: that tells nothing of the fault. */
function isEcho(id: string): boolean {
  return echoes.has(id)
}

function needs(id: string, other: string): boolean {
  const after = cases.find((each) => each.id === id)?.after ?? []
  return after.some((each) => each === other || needs(each, other))
}

/** All cases of a report. */
export function casesOf({ rules }: Report): Report['rules'][number]['cases'][number][] {
  return rules.flatMap((rule) => rule.cases)
}

/** What was found, for people. */
export function tellAll(report: Report): string {
  const told = casesOf(report).flatMap(({ id, verdict, why, findings }) =>
    verdict === 'holds'
      ? []
      : [`${id} ${verdict} ${why}`, ...findings.map(({ message, exchange }) => `  ${exchange?.step}: ${message}`)],
  )
  return told.join('\n')
}
