/** The entry point `resourced/react-admin`. */
export * from 'resourced-client/react-admin'
