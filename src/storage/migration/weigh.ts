/** What a step of a migration would cost, once the rows that it concerns have been counted. */
import type { Answer, MigrationStep } from './migration-step.ts'

/** The step with what it loses, or why it is impossible, by the answer to its question. */
export function weigh(step: MigrationStep, { count, example }: Answer): MigrationStep {
  const { sentence } = step
  switch (step.kind) {
    case 'drop-table':
      return count === 0 ? step : { ...step, loses: { rows: count }, sentence: `${sentence}: loses ${records(count)}` }
    case 'drop-column':
      return count === 0 ? step : { ...step, loses: { values: count }, sentence: `${sentence}: loses ${values(count)}` }
    case 'change-type': {
      if (count === 0) return step
      const lost = `${sentence}: loses ${values(count)} that cannot be converted exactly`
      return { ...step, loses: { values: count }, sentence: lost }
    }
    case 'fill-default':
      return { ...step, sentence: `${sentence} in ${records(count)}` }
    case 'require': {
      if (count === 0) return step
      const lacking = `${sentence} but ${count === 1 ? '1 record has' : `${count} records have`} none`
      return { ...step, impossible: true, sentence: `${lacking}: declare a default or make it optional` }
    }
    case 'create-index': {
      if (count === 0) return step
      const clash = `${count === 1 ? '1 record has' : `${count} records have`} a value that another has`
      const where = example === undefined ? '' : ` (such as ${example})`
      return { ...step, impossible: true, sentence: `${sentence}: ${clash}${where}; change those records first` }
    }
    default:
      return step
  }
}

function records(count: number): string {
  return count === 1 ? '1 record' : `${count} records`
}

function values(count: number): string {
  return count === 1 ? '1 value' : `${count} values`
}
