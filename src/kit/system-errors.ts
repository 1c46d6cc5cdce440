const permission = 'Give it to the user that runs Formloom (chown, chmod u+rwx), or choose another DATA_DIR';
const diskFull = 'The disk is full: free some space';
const openFiles =
  'A process may open too few files: raise the limit (`ulimit -n 1024` or more, LimitNOFILE= of systemd)';
const blocked = 'A file is in the way: remove it, or choose another DATA_DIR';

/** What an operator can do about a failed system call, by the code of its error: sentences without their full stop. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['EMFILE', openFiles],
  ['ENFILE', 'The system has too many open files: raise its limit (`sysctl fs.file-max`)'],
  [
    'EFBIG',
    'A process may only write small files: raise the limit (`ulimit -f unlimited`, LimitFSIZE= of systemd)',
  ],
  ['EROFS', 'This disk can only be read: choose a DATA_DIR on one that can be written'],
  ['ENOSPC', diskFull],
  ['EDQUOT', diskFull],
  ['EIO', 'The disk reports an error: check it and the log of the system'],
  ['ENOMEM', 'There is too little memory: free some'],
  [
    'EAGAIN',
    'The user that runs Formloom may have too few processes: raise the limit (`ulimit -u`, TasksMax= of systemd, --pids-limit of containers)',
  ],
  ['EACCES', permission],
  ['EPERM', permission],
  ['ENOTDIR', blocked],
  ['EEXIST', blocked],
  ['ENAMETOOLONG', 'This path is too long: choose a shorter DATA_DIR'],
  ['ELOOP', 'These symbolic links lead to themselves: correct them, or choose another DATA_DIR'],
  ['ENOENT', 'This path does not exist: make it, or choose another DATA_DIR'],
]);

/** Returns the remedy for an error code of a system call, such as `EMFILE`; undefined for a code without one. */
export const findRemedyOfCode = (code: unknown): string | undefined => remedies.get(String(code));

/** The C library's words for these codes, as PostgreSQL's programs print them at the end of a line. */
const codesByWords: Readonly<Record<string, string>> = {
  'Too many open files': 'EMFILE',
  'Too many open files in system': 'ENFILE',
  'File too large': 'EFBIG',
  'Read-only file system': 'EROFS',
  'No space left on device': 'ENOSPC',
  'Disk quota exceeded': 'EDQUOT',
  'Input/output error': 'EIO',
  'Cannot allocate memory': 'ENOMEM',
  'Resource temporarily unavailable': 'EAGAIN',
  'Permission denied': 'EACCES',
  'Operation not permitted': 'EPERM',
  'Not a directory': 'ENOTDIR',
  'File name too long': 'ENAMETOOLONG',
  'No such file or directory': 'ENOENT',
};

/** Returns the code whose words end a line of output: what comes before them may be any path. */
export const findCodeAtEnd = (line: string): string | undefined =>
  codesByWords[/(?:^|: )([^:]+?)\.?$/.exec(line)?.[1] ?? ''];
