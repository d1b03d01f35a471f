/** The switch of maintenance as the port has it. */
import type { MaintenanceStore } from '../storage.ts'
import type { Runner } from '../transaction.ts'
import { beginMaintenance, endMaintenance, readMaintenance } from './maintenance.ts'

/** The switch of a database that is open. */
export function maintenanceStore({ read, write }: Runner): MaintenanceStore {
  return {
    read: () => read(readMaintenance),
    begin: (maintenance) => write(() => beginMaintenance(maintenance)),
    end: () => write(endMaintenance),
  }
}
