/** Access to local storage, which may be full or disabled. */

export function readStorage(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Writes a value. The value is lost if the storage is full or disabled. */
export function writeStorage(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // the storage is full or disabled
  }
}
