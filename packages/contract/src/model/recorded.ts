/** The resources whose rows show the records of others: events (EVT-3), and revisions (HIS-1). */
import { historyCollection } from './names.ts'

/** A resource, as far as this file asks. */
interface Recording {
  readonly name: string
  readonly order: 'by-id' | 'by-position'
}

/** Whether the rows of a resource are the states of records. */
export function isHistory({ name, order }: Recording): boolean {
  return order === 'by-position' && name === historyCollection
}

/** The fields of events and of revisions that hold the id of a record, and the record. */
export function recordedNames(recording: Recording): { readonly id: string; readonly shown: string } {
  return isHistory(recording) ? { id: 'record_id', shown: 'record' } : { id: 'record', shown: 'data' }
}

/** Whether the records of a resource are in events, or in revisions. */
export function isRecordedIn(
  recording: Recording,
  { events, history }: { readonly events: boolean; readonly history: object | undefined },
): boolean {
  return isHistory(recording) ? history !== undefined : events
}
