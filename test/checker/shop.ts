/** A server of ours to try the checker on: it has something of everything that cases are about. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { type Operation, type Profile, usualNames } from '../../packages/check/src/profile/profile.ts'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { type Serving, serve } from '../../packages/server/src/server/serve.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import type { Certificate } from './planted.ts'

const day = 86_400_000

function dayFromNow(days: number): string {
  return new Date(Date.now() + days * day).toISOString().slice(0, 10)
}

interface Rates {
  readonly caller: string
  readonly address: string
}

// Whoever tries faults asks more than anybody else.
const unhurried: Rates = { caller: '1000000/minute', address: '1000000/minute' }
const soonSpent: Rates = { ...unhurried, address: '100/second' }

const shopWith = (rate: Rates) =>
  defineInterface({
    name: 'shop',
    limits: { rate },
    versionCarriers: ['path', 'header'],
    resources: {
      // Everything that there is about a collection.
      items: {
        fields: {
          sku: { type: 'string', maxLength: 60, unique: true, filter: true, sort: true },
          name: { type: 'string', maxLength: 100, filter: true, sort: true, search: true },
          color: { type: 'string', enum: ['red', 'green'], optional: true },
          price: { type: 'integer', minimum: 0, optional: true, filter: true, sort: true },
          // Lists are neither filtered nor sorted by it.
          remark: { type: 'string', maxLength: 100, optional: true },
          note: { type: 'string', maxLength: 100, optional: true },
          size: {
            ...{ type: 'object', optional: true, required: ['width', 'height'] },
            properties: { width: { type: 'integer' }, height: { type: 'integer' } },
          },
          // No case speaks of it: what is done to its name is seen by its name alone.
          long_label: { type: 'string', maxLength: 100, optional: true },
          shelf_id: reference('shelves', { onDelete: 'restrict' }),
        },
        within: 'shelf_id',
        events: true,
        deletion: { byFilter: true },
      },
      shelves: { fields: { label: { type: 'string', maxLength: 100, filter: true, sort: true } } },
      // Deleted for good.
      notes: { fields: { text: { type: 'string', filter: true } }, deletion: { variant: 'hard' }, events: true },
      // Changes need a condition.
      contracts: { fields: { text: { type: 'string', filter: true } }, preconditions: 'required' },
      // Deletions are jobs.
      archives: { fields: { text: { type: 'string', filter: true } }, deletion: { asynchronous: 'always' } },
      // What a deletion does to what refers to it: it goes too, or refers to nothing.
      walls: { fields: { label: { type: 'string', maxLength: 100, filter: true } } },
      pictures: {
        fields: { text: { type: 'string', filter: true }, wall_id: reference('walls', { onDelete: 'cascade' }) },
      },
      frames: {
        fields: {
          text: { type: 'string', filter: true },
          wall_id: reference('walls', { onDelete: 'clear', optional: true }),
        },
      },
      // Deletions tell what was deleted, and are not refused when there is nothing any more.
      receipts: {
        fields: { text: { type: 'string', filter: true } },
        deletion: { answer: 'summary', repeated: 'no-content' },
      },
      // Gone for good after a second.
      drafts: { fields: { text: { type: 'string', filter: true } }, deletion: { gracePeriod: 'PT1S' } },
      // Everybody has their own.
      diaries: {
        fields: { text: { type: 'string', filter: true }, owner_id: { type: 'string', readOnly: true } },
        owner: 'owner_id',
        events: true,
        access: {
          create: 'anyone',
          ...Object.fromEntries(['read', 'update', 'delete'].map((action) => [action, ['role:admin', 'owner']])),
        },
      },
    },
    versions: {
      v1: { deprecated: dayFromNow(-30), sunset: dayFromNow(-1) },
      v2: { deprecated: dayFromNow(-20), sunset: dayFromNow(200) },
      v3: {},
    },
  })

/** A served shop. */
export interface Shop {
  readonly serving: Serving
  /** Where it has TLS. */
  readonly certificate: Certificate | undefined
  /** Of an administrator, and of somebody who may do nothing. */
  readonly key: string
  readonly otherKey: string
  readonly profile: Profile
}

/** An origin whose pages may read the shop's answers. */
export const origin = 'https://pages.example'

/**
 * Serves the shop on a free port, by plain HTTP unless told otherwise.
 *
 * @param options where it is `secure`, by TLS, with rates that are soon spent
 */
export async function serveShop({ database = 'sqlite::memory:', secure = false } = {}): Promise<Shop> {
  const shop = shopWith(secure ? soonSpent : unhurried)
  const versions = completeVersions(shop)
  const folder = secure ? await mkdtemp(join(tmpdir(), 'resourced-shop-')) : undefined
  const serving = await serve({
    ...{ catalog: versions.stored, versions, database, host: '127.0.0.1', port: 0, http: !secure },
    // A cluster of tests does not wait for a disk.
    databaseUnsafe: true,
    ...{ corsOrigin: [origin], ...(folder === undefined ? {} : { folder }) },
  })
  const keyOf = async (subject: string, roles: string[]) => {
    const { key, stored } = makeKey(subject, roles, null)
    await serving.app.storage.keys.add(stored)
    return key
  }
  const certificate = folder === undefined ? undefined : await localCertificate(join(folder, 'tls'))
  if (folder !== undefined) await rm(folder, { recursive: true })
  return {
    serving,
    certificate,
    key: await keyOf('checker', ['admin']),
    otherKey: await keyOf('other', []),
    profile: { ...profileOf(serving.url), ...(secure ? { attempts: 100 } : {}) },
  }
}

function profileOf(base: string): Profile {
  const all: readonly Operation[] = ['list', 'create', 'read', 'replace', 'update', 'delete', 'restore', 'bulk-delete']
  const usual = {
    ...{ operations: all, id: 'id', references: {}, unique: [], optional: {}, invalid: {}, sorts: [], children: {} },
    ...{ deletion: 'soft' as const, pages: ['page', 'offset', 'cursor'] as const, conditional: false },
  }
  const text = {
    ...usual,
    example: { text: 'hello' },
    required: ['text'],
    change: { text: 'changed' },
    filters: ['text'],
    marker: 'text',
  }
  const labelled = {
    ...{ example: { label: 'north' }, required: ['label'], change: { label: 'south' } },
    ...{ filters: ['label'], marker: 'label' },
  }
  return {
    base,
    names: usualNames,
    origin,
    document: `${base}/openapi.json`,
    deprecated: base.replace(/v3$/, 'v2'),
    retired: base.replace(/v3$/, 'v1'),
    exports: ['json', 'ndjson', 'csv'],
    events: ['notes', 'items', 'diaries'],
    webhooks: true,
    versionField: 'API-Version',
    open: ['/health/live', '/health/ready'],
    disposable: true,
    collections: [
      {
        ...usual,
        ...{ name: 'items', path: '/items', operations: [...all, 'delete-by-filter'] },
        deletionAnswers: [204, 202],
        example: { sku: 'a', name: 'Lamp', color: 'red', price: 5, remark: 'As new', shelf_id: '' },
        ...{ references: { shelf_id: 'shelves' }, unique: ['sku'], required: ['sku', 'name', 'shelf_id'] },
        ...{
          change: { price: 7, color: 'green' },
          optional: { color: 'red', price: 5, note: 'Fragile', size: { width: 2, height: 3 } },
          invalid: { price: 'much', color: 'blue' },
        },
        ...{
          filters: ['name', 'sku', 'price', 'color'],
          sorts: ['price', 'name', 'sku', 'color'],
          search: 'name',
          marker: 'name',
        },
      },
      {
        ...usual,
        ...{
          name: 'shelves',
          path: '/shelves',
          example: { label: 'top' },
          required: ['label'],
          change: { label: 'bottom' },
        },
        ...{ filters: ['label'], sorts: ['label'], marker: 'label', children: { items: 'items' } },
      },
      {
        ...text,
        name: 'notes',
        path: '/notes',
        deletion: 'hard',
        operations: all.filter((each) => each !== 'restore'),
      },
      { ...text, name: 'contracts', path: '/contracts', conditional: true },
      { ...text, name: 'archives', path: '/archives', deletionAnswers: [202] },
      { ...text, name: 'walls', path: '/walls', ...labelled },
      {
        ...text,
        ...{ name: 'pictures', path: '/pictures', references: { wall_id: 'walls' } },
        ...{ example: { text: 'hello', wall_id: '' }, required: ['text', 'wall_id'] },
      },
      {
        ...text,
        ...{ name: 'frames', path: '/frames', references: { wall_id: 'walls' } },
        example: { text: 'hello', wall_id: '' },
      },
      { ...text, name: 'receipts', path: '/receipts', deletionAnswers: [200] },
      { ...text, name: 'drafts', path: '/drafts', grace: 1 },
      { ...text, name: 'diaries', path: '/diaries', owner: 'owner_id' },
    ],
  }
}
