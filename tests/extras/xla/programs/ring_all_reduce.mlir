module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x24xf32>) -> (tensor<8x24xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%arg1: tensor<1x24xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x24xf32>) -> tensor<24xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %6 = stablehlo.reshape %1 : (tensor<24xf32>) -> tensor<8x3xf32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.subtract %5, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %8 = func.call @remainder(%7, %c_2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.compare LT, %8, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_4 = stablehlo.constant dense<8> : tensor<i32>
      %10 = stablehlo.add %8, %c_4 : tensor<i32>
      %11 = stablehlo.select %9, %10, %8 : tensor<i1>, tensor<i32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %12 = stablehlo.compare LT, %c_5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %c_8 = stablehlo.constant dense<3> : tensor<i32>
      %13 = stablehlo.add %c_7, %c_8 : tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.select %12, %13, %c_9 : tensor<i1>, tensor<i32>
      %15 = stablehlo.dynamic_slice %6, %11, %14, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %16 = stablehlo.reshape %15 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %17 = stablehlo.subtract %5, %c_10 : tensor<i32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.subtract %17, %c_11 : tensor<i32>
      %c_12 = stablehlo.constant dense<8> : tensor<i32>
      %19 = func.call @remainder(%18, %c_12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %20 = "stablehlo.collective_permute"(%16) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.compare LT, %19, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_14 = stablehlo.constant dense<8> : tensor<i32>
      %22 = stablehlo.add %19, %c_14 : tensor<i32>
      %23 = stablehlo.select %21, %22, %19 : tensor<i1>, tensor<i32>
      %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %25 = "stablehlo.scatter"(%6, %24, %20) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %26 = stablehlo.subtract %5, %c_15 : tensor<i32>
      %c_16 = stablehlo.constant dense<8> : tensor<i32>
      %27 = func.call @remainder(%26, %c_16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %28 = stablehlo.compare LT, %27, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_18 = stablehlo.constant dense<8> : tensor<i32>
      %29 = stablehlo.add %27, %c_18 : tensor<i32>
      %30 = stablehlo.select %28, %29, %27 : tensor<i1>, tensor<i32>
      %c_19 = stablehlo.constant dense<0> : tensor<i32>
      %c_20 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.compare LT, %c_19, %c_20, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %c_22 = stablehlo.constant dense<3> : tensor<i32>
      %32 = stablehlo.add %c_21, %c_22 : tensor<i32>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.select %31, %32, %c_23 : tensor<i1>, tensor<i32>
      %34 = stablehlo.dynamic_slice %25, %30, %33, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %35 = stablehlo.reshape %34 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %36 = stablehlo.subtract %5, %c_24 : tensor<i32>
      %c_25 = stablehlo.constant dense<1> : tensor<i32>
      %37 = stablehlo.subtract %36, %c_25 : tensor<i32>
      %c_26 = stablehlo.constant dense<8> : tensor<i32>
      %38 = func.call @remainder(%37, %c_26) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %39 = "stablehlo.collective_permute"(%35) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_27 = stablehlo.constant dense<0> : tensor<i32>
      %40 = stablehlo.compare LT, %38, %c_27, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_28 = stablehlo.constant dense<8> : tensor<i32>
      %41 = stablehlo.add %38, %c_28 : tensor<i32>
      %42 = stablehlo.select %40, %41, %38 : tensor<i1>, tensor<i32>
      %43 = stablehlo.broadcast_in_dim %42, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %44 = "stablehlo.scatter"(%25, %43, %39) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_29 = stablehlo.constant dense<2> : tensor<i32>
      %45 = stablehlo.subtract %5, %c_29 : tensor<i32>
      %c_30 = stablehlo.constant dense<8> : tensor<i32>
      %46 = func.call @remainder(%45, %c_30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_31 = stablehlo.constant dense<0> : tensor<i32>
      %47 = stablehlo.compare LT, %46, %c_31, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_32 = stablehlo.constant dense<8> : tensor<i32>
      %48 = stablehlo.add %46, %c_32 : tensor<i32>
      %49 = stablehlo.select %47, %48, %46 : tensor<i1>, tensor<i32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %50 = stablehlo.compare LT, %c_33, %c_34, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %c_36 = stablehlo.constant dense<3> : tensor<i32>
      %51 = stablehlo.add %c_35, %c_36 : tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %52 = stablehlo.select %50, %51, %c_37 : tensor<i1>, tensor<i32>
      %53 = stablehlo.dynamic_slice %44, %49, %52, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %54 = stablehlo.reshape %53 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_38 = stablehlo.constant dense<2> : tensor<i32>
      %55 = stablehlo.subtract %5, %c_38 : tensor<i32>
      %c_39 = stablehlo.constant dense<1> : tensor<i32>
      %56 = stablehlo.subtract %55, %c_39 : tensor<i32>
      %c_40 = stablehlo.constant dense<8> : tensor<i32>
      %57 = func.call @remainder(%56, %c_40) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %58 = "stablehlo.collective_permute"(%54) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %59 = stablehlo.compare LT, %57, %c_41, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_42 = stablehlo.constant dense<8> : tensor<i32>
      %60 = stablehlo.add %57, %c_42 : tensor<i32>
      %61 = stablehlo.select %59, %60, %57 : tensor<i1>, tensor<i32>
      %62 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %63 = "stablehlo.scatter"(%44, %62, %58) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_43 = stablehlo.constant dense<3> : tensor<i32>
      %64 = stablehlo.subtract %5, %c_43 : tensor<i32>
      %c_44 = stablehlo.constant dense<8> : tensor<i32>
      %65 = func.call @remainder(%64, %c_44) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_45 = stablehlo.constant dense<0> : tensor<i32>
      %66 = stablehlo.compare LT, %65, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_46 = stablehlo.constant dense<8> : tensor<i32>
      %67 = stablehlo.add %65, %c_46 : tensor<i32>
      %68 = stablehlo.select %66, %67, %65 : tensor<i1>, tensor<i32>
      %c_47 = stablehlo.constant dense<0> : tensor<i32>
      %c_48 = stablehlo.constant dense<0> : tensor<i32>
      %69 = stablehlo.compare LT, %c_47, %c_48, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_49 = stablehlo.constant dense<0> : tensor<i32>
      %c_50 = stablehlo.constant dense<3> : tensor<i32>
      %70 = stablehlo.add %c_49, %c_50 : tensor<i32>
      %c_51 = stablehlo.constant dense<0> : tensor<i32>
      %71 = stablehlo.select %69, %70, %c_51 : tensor<i1>, tensor<i32>
      %72 = stablehlo.dynamic_slice %63, %68, %71, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %73 = stablehlo.reshape %72 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_52 = stablehlo.constant dense<3> : tensor<i32>
      %74 = stablehlo.subtract %5, %c_52 : tensor<i32>
      %c_53 = stablehlo.constant dense<1> : tensor<i32>
      %75 = stablehlo.subtract %74, %c_53 : tensor<i32>
      %c_54 = stablehlo.constant dense<8> : tensor<i32>
      %76 = func.call @remainder(%75, %c_54) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %77 = "stablehlo.collective_permute"(%73) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_55 = stablehlo.constant dense<0> : tensor<i32>
      %78 = stablehlo.compare LT, %76, %c_55, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_56 = stablehlo.constant dense<8> : tensor<i32>
      %79 = stablehlo.add %76, %c_56 : tensor<i32>
      %80 = stablehlo.select %78, %79, %76 : tensor<i1>, tensor<i32>
      %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %82 = "stablehlo.scatter"(%63, %81, %77) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_57 = stablehlo.constant dense<4> : tensor<i32>
      %83 = stablehlo.subtract %5, %c_57 : tensor<i32>
      %c_58 = stablehlo.constant dense<8> : tensor<i32>
      %84 = func.call @remainder(%83, %c_58) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_59 = stablehlo.constant dense<0> : tensor<i32>
      %85 = stablehlo.compare LT, %84, %c_59, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_60 = stablehlo.constant dense<8> : tensor<i32>
      %86 = stablehlo.add %84, %c_60 : tensor<i32>
      %87 = stablehlo.select %85, %86, %84 : tensor<i1>, tensor<i32>
      %c_61 = stablehlo.constant dense<0> : tensor<i32>
      %c_62 = stablehlo.constant dense<0> : tensor<i32>
      %88 = stablehlo.compare LT, %c_61, %c_62, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_63 = stablehlo.constant dense<0> : tensor<i32>
      %c_64 = stablehlo.constant dense<3> : tensor<i32>
      %89 = stablehlo.add %c_63, %c_64 : tensor<i32>
      %c_65 = stablehlo.constant dense<0> : tensor<i32>
      %90 = stablehlo.select %88, %89, %c_65 : tensor<i1>, tensor<i32>
      %91 = stablehlo.dynamic_slice %82, %87, %90, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %92 = stablehlo.reshape %91 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_66 = stablehlo.constant dense<4> : tensor<i32>
      %93 = stablehlo.subtract %5, %c_66 : tensor<i32>
      %c_67 = stablehlo.constant dense<1> : tensor<i32>
      %94 = stablehlo.subtract %93, %c_67 : tensor<i32>
      %c_68 = stablehlo.constant dense<8> : tensor<i32>
      %95 = func.call @remainder(%94, %c_68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %96 = "stablehlo.collective_permute"(%92) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_69 = stablehlo.constant dense<0> : tensor<i32>
      %97 = stablehlo.compare LT, %95, %c_69, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_70 = stablehlo.constant dense<8> : tensor<i32>
      %98 = stablehlo.add %95, %c_70 : tensor<i32>
      %99 = stablehlo.select %97, %98, %95 : tensor<i1>, tensor<i32>
      %100 = stablehlo.broadcast_in_dim %99, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %101 = "stablehlo.scatter"(%82, %100, %96) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_71 = stablehlo.constant dense<5> : tensor<i32>
      %102 = stablehlo.subtract %5, %c_71 : tensor<i32>
      %c_72 = stablehlo.constant dense<8> : tensor<i32>
      %103 = func.call @remainder(%102, %c_72) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_73 = stablehlo.constant dense<0> : tensor<i32>
      %104 = stablehlo.compare LT, %103, %c_73, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_74 = stablehlo.constant dense<8> : tensor<i32>
      %105 = stablehlo.add %103, %c_74 : tensor<i32>
      %106 = stablehlo.select %104, %105, %103 : tensor<i1>, tensor<i32>
      %c_75 = stablehlo.constant dense<0> : tensor<i32>
      %c_76 = stablehlo.constant dense<0> : tensor<i32>
      %107 = stablehlo.compare LT, %c_75, %c_76, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_77 = stablehlo.constant dense<0> : tensor<i32>
      %c_78 = stablehlo.constant dense<3> : tensor<i32>
      %108 = stablehlo.add %c_77, %c_78 : tensor<i32>
      %c_79 = stablehlo.constant dense<0> : tensor<i32>
      %109 = stablehlo.select %107, %108, %c_79 : tensor<i1>, tensor<i32>
      %110 = stablehlo.dynamic_slice %101, %106, %109, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %111 = stablehlo.reshape %110 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_80 = stablehlo.constant dense<5> : tensor<i32>
      %112 = stablehlo.subtract %5, %c_80 : tensor<i32>
      %c_81 = stablehlo.constant dense<1> : tensor<i32>
      %113 = stablehlo.subtract %112, %c_81 : tensor<i32>
      %c_82 = stablehlo.constant dense<8> : tensor<i32>
      %114 = func.call @remainder(%113, %c_82) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %115 = "stablehlo.collective_permute"(%111) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_83 = stablehlo.constant dense<0> : tensor<i32>
      %116 = stablehlo.compare LT, %114, %c_83, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_84 = stablehlo.constant dense<8> : tensor<i32>
      %117 = stablehlo.add %114, %c_84 : tensor<i32>
      %118 = stablehlo.select %116, %117, %114 : tensor<i1>, tensor<i32>
      %119 = stablehlo.broadcast_in_dim %118, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %120 = "stablehlo.scatter"(%101, %119, %115) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_85 = stablehlo.constant dense<6> : tensor<i32>
      %121 = stablehlo.subtract %5, %c_85 : tensor<i32>
      %c_86 = stablehlo.constant dense<8> : tensor<i32>
      %122 = func.call @remainder(%121, %c_86) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_87 = stablehlo.constant dense<0> : tensor<i32>
      %123 = stablehlo.compare LT, %122, %c_87, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_88 = stablehlo.constant dense<8> : tensor<i32>
      %124 = stablehlo.add %122, %c_88 : tensor<i32>
      %125 = stablehlo.select %123, %124, %122 : tensor<i1>, tensor<i32>
      %c_89 = stablehlo.constant dense<0> : tensor<i32>
      %c_90 = stablehlo.constant dense<0> : tensor<i32>
      %126 = stablehlo.compare LT, %c_89, %c_90, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_91 = stablehlo.constant dense<0> : tensor<i32>
      %c_92 = stablehlo.constant dense<3> : tensor<i32>
      %127 = stablehlo.add %c_91, %c_92 : tensor<i32>
      %c_93 = stablehlo.constant dense<0> : tensor<i32>
      %128 = stablehlo.select %126, %127, %c_93 : tensor<i1>, tensor<i32>
      %129 = stablehlo.dynamic_slice %120, %125, %128, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %130 = stablehlo.reshape %129 : (tensor<1x3xf32>) -> tensor<3xf32>
      %c_94 = stablehlo.constant dense<6> : tensor<i32>
      %131 = stablehlo.subtract %5, %c_94 : tensor<i32>
      %c_95 = stablehlo.constant dense<1> : tensor<i32>
      %132 = stablehlo.subtract %131, %c_95 : tensor<i32>
      %c_96 = stablehlo.constant dense<8> : tensor<i32>
      %133 = func.call @remainder(%132, %c_96) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %134 = "stablehlo.collective_permute"(%130) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
      %c_97 = stablehlo.constant dense<0> : tensor<i32>
      %135 = stablehlo.compare LT, %133, %c_97, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_98 = stablehlo.constant dense<8> : tensor<i32>
      %136 = stablehlo.add %133, %c_98 : tensor<i32>
      %137 = stablehlo.select %135, %136, %133 : tensor<i1>, tensor<i32>
      %138 = stablehlo.broadcast_in_dim %137, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %139 = "stablehlo.scatter"(%120, %138, %134) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %219 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %219 : tensor<f32>
      }) : (tensor<8x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<8x3xf32>
      %c_99 = stablehlo.constant dense<1> : tensor<i32>
      %140 = stablehlo.add %5, %c_99 : tensor<i32>
      %c_100 = stablehlo.constant dense<0> : tensor<i32>
      %141 = stablehlo.subtract %140, %c_100 : tensor<i32>
      %c_101 = stablehlo.constant dense<8> : tensor<i32>
      %142 = func.call @remainder(%141, %c_101) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %143 = func.call @dynamic_index_in_dim(%139, %142) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %144 = "stablehlo.collective_permute"(%143) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_102 = stablehlo.constant dense<0> : tensor<i32>
      %145 = stablehlo.subtract %5, %c_102 : tensor<i32>
      %c_103 = stablehlo.constant dense<8> : tensor<i32>
      %146 = func.call @remainder(%145, %c_103) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_104 = stablehlo.constant dense<0> : tensor<i32>
      %147 = stablehlo.compare LT, %146, %c_104, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_105 = stablehlo.constant dense<8> : tensor<i32>
      %148 = stablehlo.add %146, %c_105 : tensor<i32>
      %149 = stablehlo.select %147, %148, %146 : tensor<i1>, tensor<i32>
      %c_106 = stablehlo.constant dense<0> : tensor<i32>
      %150 = stablehlo.dynamic_update_slice %139, %144, %149, %c_106 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_107 = stablehlo.constant dense<1> : tensor<i32>
      %151 = stablehlo.add %5, %c_107 : tensor<i32>
      %c_108 = stablehlo.constant dense<1> : tensor<i32>
      %152 = stablehlo.subtract %151, %c_108 : tensor<i32>
      %c_109 = stablehlo.constant dense<8> : tensor<i32>
      %153 = func.call @remainder(%152, %c_109) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %154 = func.call @dynamic_index_in_dim(%150, %153) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %155 = "stablehlo.collective_permute"(%154) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_110 = stablehlo.constant dense<1> : tensor<i32>
      %156 = stablehlo.subtract %5, %c_110 : tensor<i32>
      %c_111 = stablehlo.constant dense<8> : tensor<i32>
      %157 = func.call @remainder(%156, %c_111) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_112 = stablehlo.constant dense<0> : tensor<i32>
      %158 = stablehlo.compare LT, %157, %c_112, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_113 = stablehlo.constant dense<8> : tensor<i32>
      %159 = stablehlo.add %157, %c_113 : tensor<i32>
      %160 = stablehlo.select %158, %159, %157 : tensor<i1>, tensor<i32>
      %c_114 = stablehlo.constant dense<0> : tensor<i32>
      %161 = stablehlo.dynamic_update_slice %150, %155, %160, %c_114 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_115 = stablehlo.constant dense<1> : tensor<i32>
      %162 = stablehlo.add %5, %c_115 : tensor<i32>
      %c_116 = stablehlo.constant dense<2> : tensor<i32>
      %163 = stablehlo.subtract %162, %c_116 : tensor<i32>
      %c_117 = stablehlo.constant dense<8> : tensor<i32>
      %164 = func.call @remainder(%163, %c_117) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %165 = func.call @dynamic_index_in_dim(%161, %164) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %166 = "stablehlo.collective_permute"(%165) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_118 = stablehlo.constant dense<2> : tensor<i32>
      %167 = stablehlo.subtract %5, %c_118 : tensor<i32>
      %c_119 = stablehlo.constant dense<8> : tensor<i32>
      %168 = func.call @remainder(%167, %c_119) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_120 = stablehlo.constant dense<0> : tensor<i32>
      %169 = stablehlo.compare LT, %168, %c_120, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_121 = stablehlo.constant dense<8> : tensor<i32>
      %170 = stablehlo.add %168, %c_121 : tensor<i32>
      %171 = stablehlo.select %169, %170, %168 : tensor<i1>, tensor<i32>
      %c_122 = stablehlo.constant dense<0> : tensor<i32>
      %172 = stablehlo.dynamic_update_slice %161, %166, %171, %c_122 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_123 = stablehlo.constant dense<1> : tensor<i32>
      %173 = stablehlo.add %5, %c_123 : tensor<i32>
      %c_124 = stablehlo.constant dense<3> : tensor<i32>
      %174 = stablehlo.subtract %173, %c_124 : tensor<i32>
      %c_125 = stablehlo.constant dense<8> : tensor<i32>
      %175 = func.call @remainder(%174, %c_125) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %176 = func.call @dynamic_index_in_dim(%172, %175) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %177 = "stablehlo.collective_permute"(%176) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_126 = stablehlo.constant dense<3> : tensor<i32>
      %178 = stablehlo.subtract %5, %c_126 : tensor<i32>
      %c_127 = stablehlo.constant dense<8> : tensor<i32>
      %179 = func.call @remainder(%178, %c_127) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_128 = stablehlo.constant dense<0> : tensor<i32>
      %180 = stablehlo.compare LT, %179, %c_128, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_129 = stablehlo.constant dense<8> : tensor<i32>
      %181 = stablehlo.add %179, %c_129 : tensor<i32>
      %182 = stablehlo.select %180, %181, %179 : tensor<i1>, tensor<i32>
      %c_130 = stablehlo.constant dense<0> : tensor<i32>
      %183 = stablehlo.dynamic_update_slice %172, %177, %182, %c_130 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_131 = stablehlo.constant dense<1> : tensor<i32>
      %184 = stablehlo.add %5, %c_131 : tensor<i32>
      %c_132 = stablehlo.constant dense<4> : tensor<i32>
      %185 = stablehlo.subtract %184, %c_132 : tensor<i32>
      %c_133 = stablehlo.constant dense<8> : tensor<i32>
      %186 = func.call @remainder(%185, %c_133) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %187 = func.call @dynamic_index_in_dim(%183, %186) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %188 = "stablehlo.collective_permute"(%187) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_134 = stablehlo.constant dense<4> : tensor<i32>
      %189 = stablehlo.subtract %5, %c_134 : tensor<i32>
      %c_135 = stablehlo.constant dense<8> : tensor<i32>
      %190 = func.call @remainder(%189, %c_135) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_136 = stablehlo.constant dense<0> : tensor<i32>
      %191 = stablehlo.compare LT, %190, %c_136, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_137 = stablehlo.constant dense<8> : tensor<i32>
      %192 = stablehlo.add %190, %c_137 : tensor<i32>
      %193 = stablehlo.select %191, %192, %190 : tensor<i1>, tensor<i32>
      %c_138 = stablehlo.constant dense<0> : tensor<i32>
      %194 = stablehlo.dynamic_update_slice %183, %188, %193, %c_138 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_139 = stablehlo.constant dense<1> : tensor<i32>
      %195 = stablehlo.add %5, %c_139 : tensor<i32>
      %c_140 = stablehlo.constant dense<5> : tensor<i32>
      %196 = stablehlo.subtract %195, %c_140 : tensor<i32>
      %c_141 = stablehlo.constant dense<8> : tensor<i32>
      %197 = func.call @remainder(%196, %c_141) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %198 = func.call @dynamic_index_in_dim(%194, %197) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %199 = "stablehlo.collective_permute"(%198) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_142 = stablehlo.constant dense<5> : tensor<i32>
      %200 = stablehlo.subtract %5, %c_142 : tensor<i32>
      %c_143 = stablehlo.constant dense<8> : tensor<i32>
      %201 = func.call @remainder(%200, %c_143) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_144 = stablehlo.constant dense<0> : tensor<i32>
      %202 = stablehlo.compare LT, %201, %c_144, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_145 = stablehlo.constant dense<8> : tensor<i32>
      %203 = stablehlo.add %201, %c_145 : tensor<i32>
      %204 = stablehlo.select %202, %203, %201 : tensor<i1>, tensor<i32>
      %c_146 = stablehlo.constant dense<0> : tensor<i32>
      %205 = stablehlo.dynamic_update_slice %194, %199, %204, %c_146 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_147 = stablehlo.constant dense<1> : tensor<i32>
      %206 = stablehlo.add %5, %c_147 : tensor<i32>
      %c_148 = stablehlo.constant dense<6> : tensor<i32>
      %207 = stablehlo.subtract %206, %c_148 : tensor<i32>
      %c_149 = stablehlo.constant dense<8> : tensor<i32>
      %208 = func.call @remainder(%207, %c_149) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %209 = func.call @dynamic_index_in_dim(%205, %208) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %210 = "stablehlo.collective_permute"(%209) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_150 = stablehlo.constant dense<6> : tensor<i32>
      %211 = stablehlo.subtract %5, %c_150 : tensor<i32>
      %c_151 = stablehlo.constant dense<8> : tensor<i32>
      %212 = func.call @remainder(%211, %c_151) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_152 = stablehlo.constant dense<0> : tensor<i32>
      %213 = stablehlo.compare LT, %212, %c_152, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_153 = stablehlo.constant dense<8> : tensor<i32>
      %214 = stablehlo.add %212, %c_153 : tensor<i32>
      %215 = stablehlo.select %213, %214, %212 : tensor<i1>, tensor<i32>
      %c_154 = stablehlo.constant dense<0> : tensor<i32>
      %216 = stablehlo.dynamic_update_slice %205, %210, %215, %c_154 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %217 = stablehlo.reshape %216 : (tensor<8x3xf32>) -> tensor<24xf32>
      %218 = stablehlo.broadcast_in_dim %217, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
      sdy.return %218 : tensor<1x24xf32>
    } : (tensor<8x24xf32>) -> tensor<8x24xf32>
    return %0 : tensor<8x24xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x3xf32>, %arg1: tensor<i32>) -> tensor<1x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.dynamic_slice %arg0, %2, %c_1, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    return %3 : tensor<1x3xf32>
  }
}

