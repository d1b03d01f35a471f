import { test } from 'node:test'
import { check, start } from './try.ts'
import { checkPages } from './try-pages.ts'

test('the example for Fastify serves the interface beside its own pages', async (context) => {
  const origin = await start(context, ['fastify/server.js'])
  await check(origin)
  await checkPages(origin)
})
