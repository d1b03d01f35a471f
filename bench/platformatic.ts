/** Starts Platformatic DB on a SQLite file: `node platformatic.ts PACKAGES FOLDER DATABASE PORT`. */
import { pathToFileURL } from 'node:url'

interface Capability {
  init(): Promise<void>
  start(options: { readonly listen: boolean }): Promise<unknown>
}

const [, , packages = '', folder = '', database = '', port = ''] = process.argv
const { create } = (await import(pathToFileURL(`${packages}/node_modules/@platformatic/db/index.js`).href)) as {
  create(root: string, configuration: object): Promise<Capability>
}
const application = await create(folder, {
  server: { hostname: '127.0.0.1', port: Number(port), logger: { level: 'silent' } },
  db: { connectionString: `sqlite://${database}`, openapi: true, graphql: false, autoTimestamp: false },
  watch: false,
})
await application.init()
await application.start({ listen: true })
