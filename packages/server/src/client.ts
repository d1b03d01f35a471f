/** The entry point `resourced/client`. */
export * from 'resourced-client'
