/** Whether a text can be sent as a key: visible ASCII, with spaces at most in its middle. */
export function isSendable(key: string): boolean {
  return /^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(key);
}
