/** The ids of records, as the server spells them: UUIDs in lower case (RES-4). */

const recordId = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

/** Whether a text can be the id of a record. */
export function isRecordId(text: string): boolean {
  return recordId.test(text)
}
