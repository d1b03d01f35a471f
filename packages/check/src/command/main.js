#!/usr/bin/env node
/** The program `resourced-check`. The file is JavaScript that any Node.js with modules can read. */

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `resourced-check needs Node.js 24.15 or newer, and this is Node.js ${process.versions.node}: ` +
      'install a newer version from https://nodejs.org/.\n',
  )
  process.exit(2)
}
const { main } = await import('./program.ts')
await main()
