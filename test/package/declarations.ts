/** One declaration in every form, as the files of an application. */

/** The text of a declaration file, by its name. */
export const declarations: Readonly<Record<string, string>> = {
  'resources.ts': `import { defineInterface, Type } from 'resourced'

const longest: number = 100
export default defineInterface({
  name: 'shop',
  title: 'Shop',
  description: 'What is on sale.',
  resources: { things: { fields: { name: Type.String({ maxLength: longest }) }, access: { read: 'anyone' } } },
})
`,
  'resources.js': `import { defineInterface, Type } from 'resourced'

export default defineInterface({
  name: 'shop',
  title: 'Shop',
  description: 'What is on sale.',
  resources: { things: { fields: { name: Type.String({ maxLength: 100 }) }, access: { read: 'anyone' } } },
})
`,
  'resources.json': `{
  "name": "shop",
  "title": "Shop",
  "description": "What is on sale.",
  "resources": { "things": { "fields": { "name": { "type": "string", "pattern": "^(?:[a-z]+ )*[a-z]+$" } } } }
}
`,
  'resources.yaml': `name: shop
title: Shop
description: What is on sale.
resources:
  things:
    fields:
      name: { type: string, maxLength: 100 }
`,
}

/** A declaration with a pattern that one text can keep busy for years. */
export const hostilePattern = declarations['resources.json']?.replace('^(?:[a-z]+ )*[a-z]+$', '^(?:[a-z]+ ?)*$') ?? ''
