/** A tenth of the faults, chosen by the seed among those that do not wait until the key of the leader expires. */
import { randomFrom } from '../durability/random.ts'
import { cases } from './cases.ts'
import { type Case, seed, survives } from './survives.ts'

const all: [string, Case][] = Object.values(cases).flatMap((group) => Object.entries(group))
const short = all.filter(([, { pause }]) => pause <= 20)
const random = randomFrom(seed)
const order = new Map(short.map((each) => [each, random()]))
const chosen = short.toSorted((one, other) => Number(order.get(one)) - Number(order.get(other)))
const tenth = chosen.slice(0, Math.ceil(all.length / 10))
// Other tests keep the machine busy meanwhile.
survives(Object.fromEntries(tenth.map(([name, each]) => [name, { ...each, pause: 60 }])))
