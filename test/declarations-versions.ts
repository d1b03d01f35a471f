/** An interface of several versions, for scenarios. */
import type { InterfaceDeclaration, VersionDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'

/** A day in milliseconds. */
export const day = 86_400_000

/** The day that is so many days from today, as declarations write it. */
export function dayFromNow(days: number): string {
  return new Date(Date.now() + days * day).toISOString().slice(0, 10)
}

/** Books with pages, and notes, in the versions given; the last is current. */
export function notebooks(
  versions: Readonly<Record<string, VersionDeclaration>>,
  versionCarriers?: InterfaceDeclaration['versionCarriers'],
): InterfaceDeclaration {
  return defineInterface({
    name: 'notebooks',
    resources: {
      books: { fields: { name: { type: 'string', sort: true } }, access: { read: 'anyone', create: 'anyone' } },
      pages: {
        fields: { text: { type: 'string', sort: true }, book_id: reference('books') },
        within: 'book_id',
        access: { read: 'anyone' },
      },
      notes: {
        fields: { text: { type: 'string', sort: true } },
        access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      },
    },
    versions,
    ...(versionCarriers !== undefined && { versionCarriers }),
  })
}
