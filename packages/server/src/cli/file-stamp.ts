/** Notices that a file was changed, replaced or removed. */
import { statSync } from 'node:fs'

/** Differs after each change of a file; it is the same while the file is absent. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join()
  } catch {
    return 'absent'
  }
}
