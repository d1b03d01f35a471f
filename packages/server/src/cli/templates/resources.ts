/** The interface that `resourced dev` serves. Change this file while it runs. */
import { defineInterface, reference, Type } from 'resourced'

export default defineInterface({
  name: 'library',
  title: 'Library',
  resources: {
    books: {
      fields: {
        title: Type.String({ minLength: 1, maxLength: 200, search: true, sort: true }), // ?q=emma, ?sort=title
        status: Type.Enum(['wanted', 'reading', 'read'], { default: 'wanted', filter: true }), // ?status=reading
        author_id: Type.Optional(reference('authors', { onDelete: 'restrict' })), // an author with books stays: 409
        added_by: Type.String({ readOnly: true }),
      },
      owner: 'added_by', // the server writes the caller's id into this field
      // Undeclared actions need the role admin.
      access: {
        read: 'anyone', // any authenticated caller
        create: 'anyone',
        update: ['owner', 'role:admin'],
        delete: ['owner', 'role:admin'],
        restore: ['owner', 'role:admin'], // a deleted book can be restored for 30 days
      },
    },
    authors: {
      fields: { name: Type.String({ minLength: 1, maxLength: 120, search: true, sort: true, unique: true }) },
      access: { read: 'anyone', create: 'anyone' },
    },
  },
})
