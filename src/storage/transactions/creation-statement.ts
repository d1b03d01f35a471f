/** The statement that makes a record where nothing stands in its way, and gives it as it is answered. */
import sql, { type Sql } from 'sql-template-tag'
import { always } from '../../model/predicate.ts'
import type { RecordValues, Resource } from '../../model/resource.ts'
import type { Question } from '../../plan/decide.ts'
import type { Create } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Engine } from '../sql/engine.ts'
import { filled, slot, slotted } from '../sql/prepared.ts'
import { boundOf, searchWords, versionedName } from '../sql/records.ts'
import { prebuilt, type Statement } from '../transaction.ts'
import { tick } from './rows/clock.ts'
import { conditionsOf, parentSql, permittedSql } from './rows/other-records.ts'
import { answerSql } from './rows/select-record.ts'
import { insertionSql, type RowSource, sourceOf } from './rows/write-row.ts'

/** What is to be made, and what must be known of other records: references to be there, values to be free. */
interface Creation {
  readonly record: RecordValues
  readonly questions: readonly Question[]
}

type WriteReturning = NonNullable<Engine['writeReturning']>

/** The statement: of each shape its text is put together once, where nothing but the record differs from one to the next. */
export function creationStatement(
  context: SqlContext,
  plan: Create,
  writeReturning: WriteReturning,
  creation: Creation,
): Statement {
  const { resource, versionResource, parent, permitted } = plan
  const { record, questions } = creation
  const statement = (source: RowSource, conditions: readonly Sql[]) =>
    writeReturning(
      insertionSql(context, resource, source, conditions),
      tick(context, resource.name, 1, 0),
      answerSql(context, plan, always),
    )
  if (parent !== undefined || permitted.kind !== 'always') {
    const permission = permittedSql(context, resource, permitted, record)
    // What permits it is locked first: parents before their children, as deletions lock them.
    const conditions = [
      ...(permitted.kind === 'always' ? [] : [sql`exists (${permission})`]),
      ...(parent === undefined ? [] : [parentSql(context, parent)]),
      ...conditionsOf(context, resource, questions),
    ]
    return statement(sourceOf(resource, record), conditions)
  }
  const key = `create ${versionedName(versionResource ?? resource)} ${questions.map(nameOf).join()}`
  const slots = context.statements.of(key, () =>
    prebuilt(statement(slotsOf(resource), conditionsOf(context, resource, questions.map(slotsOfQuestion)))),
  )
  return filled(slots, creation)
}

function slotsOf(resource: Resource): RowSource {
  return {
    system: (name) => slot(({ record }: Creation) => record[name]),
    column: (column) => slot(({ record }: Creation) => boundOf(column, record)),
    words: (hold) => slotted(hold(''), ({ record }: Creation) => hold(searchWords(resource, record))),
  }
}

function nameOf(question: Question): string {
  if (question.kind === 'reference') return question.field
  return question.kind === 'taken' ? question.fields.join('+') : question.collection
}

/** A question that is asked of whatever record comes. */
function slotsOfQuestion(question: Question, index: number): Question {
  const asked = <Kind extends Question['kind']>({ questions }: Creation) =>
    questions[index] as Extract<Question, { kind: Kind }>
  if (question.kind === 'reference') {
    return { ...question, id: slot((creation: Creation) => asked<'reference'>(creation).id) as string }
  }
  if (question.kind === 'rule') return question
  return {
    ...question,
    keys: question.keys.map((_, key) => slot((creation: Creation) => asked<'taken'>(creation).keys[key]) as string),
    except: slot(({ record }: Creation) => record['id']) as string,
  }
}
