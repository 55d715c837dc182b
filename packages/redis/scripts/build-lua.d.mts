/** Where the generated module lies. */
export declare const generatedFile: string;

/** The script as it is sent: the parts of `lua/` without comment lines and indentation. */
export declare function joinedScript(read?: (part: string) => string): string;

/** The TypeScript module that holds a script. */
export declare function generatedModule(script?: string): string;
