/** Verbs that people bring along from other tools. */
export const verbAliases: Readonly<Record<string, string>> = {
  ls: 'list',
  view: 'get',
  new: 'create',
  edit: 'update',
  rm: 'delete',
};
