/** Decides whether a commit may be released. */

/** What the decision depends on. */
export interface ReleaseState {
  /** As `git status --porcelain` lists them, untracked files included. */
  readonly changedFiles: readonly string[]
  /** Whether the commit is on the branch `main` of `origin`. */
  readonly isPushed: boolean
  readonly isRootPrivate: boolean
  readonly version: string
  readonly changelog: string
  readonly isTagged: boolean
  readonly isPublished: boolean
}

/** Everything that stands in the way of a release, as sentences. */
export function blockers(state: ReleaseState): readonly string[] {
  const { changedFiles, isPushed, isRootPrivate, version, changelog, isTagged, isPublished } = state
  const found: string[] = []
  if (changedFiles.length > 0) {
    const shown = changedFiles.slice(0, 5).map((line) => line.slice(3))
    const more = changedFiles.length > shown.length ? ` and ${changedFiles.length - shown.length} more` : ''
    found.push(`The working tree differs from the commit: commit or remove ${shown.join(', ')}${more}.`)
  }
  if (!isPushed) found.push('The commit is not on origin/main: push it.')
  if (!isRootPrivate) found.push('package.json is not private: npm could publish the whole repository.')
  if (isTagged || isPublished) {
    found.push(`Version ${version} has been released: write the next version into package.json.`)
  }
  const changes = changesOf(version, changelog)
  if (changes === undefined) {
    found.push(`CHANGELOG.md has no heading "## ${version} — YYYY-MM-DD": add it below "## Unreleased".`)
  } else if (!/^- /m.test(changes)) found.push(`CHANGELOG.md lists no change of ${version}.`)
  return found
}

/** The manifest of a built package, as far as publishing depends on it. */
interface BuiltManifest {
  readonly version?: unknown
  readonly private?: unknown
  readonly publishConfig?: { readonly access?: unknown }
}

/** Everything in the manifest of a built package that would prevent its publication, as sentences. */
export function manifestBlockers(manifest: BuiltManifest, version: string): readonly string[] {
  const found: string[] = []
  if (manifest.private !== undefined) found.push('The manifest has "private": npm would refuse to publish it.')
  if (manifest.version !== version) found.push(`The manifest has the version ${manifest.version}, not ${version}.`)
  if (manifest.publishConfig?.access !== 'public') found.push('publishConfig.access of the manifest is not public.')
  return found
}

/** The text below the heading of a version. */
function changesOf(version: string, changelog: string): string | undefined {
  const sections = changelog.split(/^## /m)
  const heading = new RegExp(`^${RegExp.escape(version)} — \\d{4}-\\d{2}-\\d{2}\\s*\\n`)
  return sections.find((section) => heading.test(section))
}
