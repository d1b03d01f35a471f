/** Records as a list's statement joins them: one on each line. */

/** The records without the last one. */
export function withoutLast(json: string): string {
  return json.slice(0, json.lastIndexOf(',\n'))
}
