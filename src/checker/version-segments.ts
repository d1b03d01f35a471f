/** Versions in paths. */

/** The segments of a path that are versions, such as `v1` and `v2.1`. */
export function versionsIn(path: string): string[] {
  return path.split('/').filter((segment) => /^v\d+(?:\.\d+)*$/i.test(segment))
}
