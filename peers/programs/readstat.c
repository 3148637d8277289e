/* Reads every value of a data set by ReadStat's C library; the handler does nothing. */

#include <readstat.h>
#include <stdio.h>

struct counts {
    long rows;
    int columns;
};

static int metadata(readstat_metadata_t *data, void *context) {
    struct counts *counts = context;
    counts->columns = readstat_get_var_count(data);
    return READSTAT_HANDLER_OK;
}

static int value(int row, readstat_variable_t *variable, readstat_value_t value, void *context) {
    (void)variable;
    (void)value;
    struct counts *counts = context;
    counts->rows = row + 1L;
    return READSTAT_HANDLER_OK;
}

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: readstat FILE\n");
        return 2;
    }
    struct counts counts = {0, 0};
    readstat_parser_t *parser = readstat_parser_init();
    readstat_set_metadata_handler(parser, metadata);
    readstat_set_value_handler(parser, value);
    readstat_error_t error = readstat_parse_sas7bdat(parser, words[1], &counts);
    readstat_parser_free(parser);
    if (error != READSTAT_OK) {
        fprintf(stderr, "readstat: %s\n", readstat_error_message(error));
        return 1;
    }
    printf("rows=%ld columns=%d\n", counts.rows, counts.columns);
    return 0;
}
