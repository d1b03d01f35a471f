/** SUM-1: random summaries of many records are those that an evaluator in memory finds, digit for digit. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { pick, randomFrom } from '../durability/random.ts'
import { type Trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const optional = { optional: true, filter: true } as const
const ledger = defineInterface({
  name: 'ledger',
  limits: { pageSize: { default: 1_000, max: 1_000 } },
  resources: {
    entries: {
      fields: {
        kind: { type: 'string', enum: ['a', 'b', 'c'], optional: true },
        done: { type: 'boolean', optional: true },
        whole: { type: 'integer', ...optional },
        tiny: { type: 'decimal', precision: 5, scale: 5, ...optional },
        usual: { type: 'decimal', precision: 14, scale: 2, ...optional },
        huge: { type: 'decimal', precision: 38, scale: 3, ...optional },
        at: { type: 'string', format: 'date-time', ...optional },
        on: { type: 'string', format: 'date', ...optional },
      },
      access: { read: 'anyone' },
    },
  },
})

type Entry = Readonly<Record<string, string | number | boolean | null>>
const scales: Readonly<Record<string, number>> = { whole: 0, tiny: 5, usual: 2, huge: 3 }

/** So many that a thread reads them on SQLite. */
const count = 1_500
const seed = Number(process.env['SEED'] ?? 7)
const random = randomFrom(seed)

function entry(): Entry {
  const digits = (most: number) => String(Array.from({ length: most }, () => Math.floor(random() * 10)).join(''))
  const decimal = (before: number, scale: number) => {
    const whole = before === 0 ? '0' : String(BigInt(digits(1 + Math.floor(random() * before))))
    return `${random() < 0.4 ? '-' : ''}${whole}.${digits(scale)}`
  }
  const integer = () => Math.trunc((random() - 0.5) * 2 * Number.MAX_SAFE_INTEGER * pick(random, [1, 1e-6, 1e-12]))
  // Some days have a change of clocks in some zone.
  const instant =
    Date.parse('2011-12-25') + Math.floor(random() * 10 * 86_400_000) + pick(random, [0, 1, 90]) * 86_400_000
  const made = {
    kind: pick(random, ['a', 'b', 'c', null]),
    done: pick(random, [true, false, null]),
    whole: integer(),
    tiny: decimal(0, 5),
    usual: decimal(12, 2),
    huge: decimal(35, 3),
    at: new Date(instant).toISOString(),
    on: new Date(instant).toISOString().slice(0, 10),
  }
  return Object.fromEntries(Object.entries(made).map(([name, value]) => [name, random() < 0.1 ? null : value]))
}

/** The integer of a number without its point. */
function scaled(value: string | number | boolean): bigint {
  return BigInt(String(value).replace('.', ''))
}

function decimal(value: bigint, scale: number): string {
  const [size, sign] = value < 0n ? [-value, '-'] : [value, '']
  const digits = String(size).padStart(scale + 1, '0')
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Rounded half away from zero. */
function divided(value: bigint, by: bigint): bigint {
  const rounded = ((value < 0n ? -value : value) * 2n + by) / (2n * by)
  return value < 0n ? -rounded : rounded
}

function groupValue(record: Entry, name: string, zone: string): string | boolean | null {
  const [field = '', part] = name.split(':')
  const value = record[field] ?? null
  if (part === undefined || value === null) return value as string | boolean | null
  const local = field === 'on' ? String(value) : dateIn(zone, String(value))
  if (part === 'week') return weekOf(local)
  return local.slice(0, { year: 4, month: 7, day: 10 }[part])
}

function dateIn(zone: string, instant: string): string {
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, ...parts }).format(new Date(instant))
}

function weekOf(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
  const start = Date.UTC(day.getUTCFullYear(), 0, 1)
  return `${day.getUTCFullYear()}-W${String(Math.ceil(((day.getTime() - start) / 86_400_000 + 1) / 7)).padStart(2, '0')}`
}

function expected(records: readonly Entry[], groups: readonly string[], fields: readonly string[], zone: string) {
  const found = new Map<string, Entry[]>()
  for (const record of records) {
    const key = JSON.stringify(groups.map((name) => groupValue(record, name, zone)))
    found.set(key, [...(found.get(key) ?? []), record])
  }
  return new Map(
    [...found].map(([key, members]) => {
      const figures = fields.map((field) => {
        const values = members.flatMap((each) => (each[field] === null ? [] : [scaled(each[field] as string)]))
        if (values.length === 0) return [field, [null, null, null]] as const
        const scale = scales[field] as number
        const sum = values.reduce((total, each) => total + each, 0n)
        const least = values.reduce((low, each) => (each < low ? each : low))
        const average = divided(sum * 1_000_000n, BigInt(values.length))
        const min = field === 'whole' ? Number(least) : decimal(least, scale)
        return [field, [decimal(sum, scale), decimal(average, scale + 6), min]] as const
      })
      return [key, { count: members.length, figures: Object.fromEntries(figures) }] as const
    }),
  )
}

async function compare({ send }: Trial, records: readonly Entry[]): Promise<void> {
  const dates = ['year', 'month', 'week', 'day'].flatMap((part) => [`at:${part}`, `on:${part}`])
  const groups = [
    ...new Set(Array.from({ length: Math.floor(random() * 4) }, () => pick(random, ['kind', 'done', ...dates]))),
  ]
  const fields = Object.keys(scales).filter(() => random() < 0.5)
  const zones = ['Pacific/Apia', 'America/Sao_Paulo', 'Europe/Berlin', 'Asia/Kathmandu', 'UTC']
  const zone = groups.some((name) => name.startsWith('at:')) ? pick(random, zones) : undefined
  const filter = pick(random, ['', 'kind=a', 'done=true&whole[gt]=0'])
  const query = [
    ...(groups.length > 0 ? [`group=${groups}`] : []),
    ...(fields.length > 0 ? ['sum', 'avg', 'min'].map((kind) => `${kind}=${fields}`) : []),
    ...(zone === undefined ? [] : [`timezone=${zone}`]),
    ...(filter === '' ? [] : [filter]),
    ...(fields.length > 0 ? [`sort=${pick(random, ['', '-'])}avg.${fields[0]}`] : []),
  ].join('&')
  const answer = await send({ path: `/v1/entries/summary?${query}`, as: 'ann' })
  assert.equal(answer.status, 200, answer.text)
  const selected = records.filter(
    ({ kind, done, whole }) =>
      filter === '' || (filter === 'kind=a' ? kind === 'a' : done === true && whole !== null && Number(whole) > 0),
  )
  const wanted = expected(selected, groups, fields, zone ?? 'UTC')
  if (groups.length === 0 && selected.length === 0) return
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  const rows: any[] = answer.json.data
  assert.equal(answer.json.pagination.total_count, wanted.size, query)
  const found = rows.map(({ group, count, sum, avg, min }) => {
    const figures = Object.fromEntries(fields.map((field) => [field, [sum[field], avg[field], min[field]]]))
    return [JSON.stringify(groups.map((name) => group[name])), { count, figures }] as const
  })
  assert.equal(found.length, Math.min(1_000, wanted.size))
  for (const [key, row] of found) assert.deepEqual(row, wanted.get(key), `${query}, ${key}, seed ${seed}`)
  const order = rows.flatMap(({ avg }) =>
    fields.length === 0 || avg[fields[0]!] === null ? [] : [scaled(avg[fields[0]!])],
  )
  if (query.includes('sort=-')) order.reverse()
  assert.ok(
    order.every((each, index) => index === 0 || (order[index - 1] as bigint) <= each),
    query,
  )
}

it('SUM-1: random groups and figures are exact', async (context) => {
  const trial = await trialFor(context, ledger)
  const records = Array.from({ length: count }, entry)
  await fill(trial, 'entries', records)
  for (let question = 0; question < Number(process.env['QUESTIONS'] ?? 20); question++) await compare(trial, records)
})
