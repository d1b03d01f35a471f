/** `resourced check-changes`: whether a newer interface breaks the clients of an older one (VER-5). */
import { compareInterfaces, type ServedVersion } from '../changes/compare.ts'
import type { Finding } from '../changes/finding.ts'
import { markdownOf } from '../changes/markdown.ts'
import { reportOf } from '../changes/report.ts'
import { explain } from './explain.ts'
import { inFile, loadInterface } from './load-interface.ts'
import { print } from './print.ts'

interface Options {
  readonly format: keyof typeof formats
  readonly strict?: true
}

const formats = {
  text: reportOf,
  json: (findings: readonly Finding[]) => JSON.stringify(asData(findings), null, 2),
  markdown: markdownOf,
}

/**
 * Prints what differs. The exit code is 1 where something breaks (with `strict` also where something has to be looked at), 0
 * where nothing does, and 2 where the two could not be compared.
 */
export async function checkChanges(old: string, now: string, { format, strict }: Options): Promise<void> {
  try {
    const findings = await compareFiles(old, now)
    const breaks = findings.some(
      ({ severity }) => severity === 'breaking' || (strict === true && severity === 'review'),
    )
    print(`${formats[format](findings)}\n`)
    process.exitCode = breaks ? 1 : 0
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`)
    process.exitCode = 2
  }
}

async function compareFiles(old: string, now: string): Promise<Finding[]> {
  const [was, is] = [await loadInterface(old), await loadInterface(now)]
  try {
    return compareInterfaces(was, is, Date.now())
  } catch (error) {
    const file = cannotBeRead(was) ? old : cannotBeRead(is) ? now : `${old} and ${now}`
    throw inFile(file, error)
  }
}

/** Whether it is this one that cannot be compared: not with itself either. */
function cannotBeRead(served: readonly ServedVersion[]): boolean {
  try {
    compareInterfaces(served, served, 0)
    return false
  } catch {
    return true
  }
}

function asData(findings: readonly Finding[]): object {
  const count = (severity: Finding['severity']) => findings.filter((each) => each.severity === severity).length
  return { breaking: count('breaking'), review: count('review'), compatible: count('compatible'), findings }
}
