/**
 * The interface that the tests of durability write to: one resource deleted for good, one retained; one takes the other
 * along.
 */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'

export const diary: InterfaceDeclaration = {
  name: 'diary',
  title: 'Diary',
  resources: {
    folders: {
      fields: {
        name: { type: 'string', unique: true, sort: true },
        title: { type: 'string', search: true },
        edition: { type: 'integer', filter: true },
        text: { type: 'string' },
      },
      deletion: { variant: 'hard' },
    },
    notes: {
      fields: {
        name: { type: 'string', unique: true, sort: true },
        title: { type: 'string', search: true },
        edition: { type: 'integer', filter: true },
        text: { type: 'string' },
        folder_id: { reference: 'folders', onDelete: 'cascade' },
      },
      within: 'folder_id',
      deletion: { variant: 'soft' },
    },
  },
}
