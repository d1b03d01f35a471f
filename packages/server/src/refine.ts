/** The entry point `resourced/refine`. */
export * from 'resourced-client/refine'
