/* Where the kernel enters a program of the wheel. It stands for the C library's start file, of which no code is linked;
   constructors of the program's own would not run: it has none. */
__asm__(".text\n"
        ".globl rp_start\n"
        ".hidden rp_start\n"
        ".type rp_start, @function\n"
        "rp_start:\n"
        "xorl %ebp, %ebp\n"
        "movq %rdx, %r9\n" /* what to call at the exit */
        "popq %rsi\n"      /* the number of arguments */
        "movq %rsp, %rdx\n"
        "andq $-16, %rsp\n"
        "pushq %rax\n"
        "pushq %rsp\n"
        "xorl %r8d, %r8d\n"
        "xorl %ecx, %ecx\n"
        "leaq main(%rip), %rdi\n"
        "call *__libc_start_main@GOTPCREL(%rip)\n"
        "hlt\n");
